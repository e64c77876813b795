import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from takagi import FuzzyCMeans, TSKClassifier, TSKCommittee, TSKCommitteeClassifier, TSKRegressor
from takagi.experiments import MBGDClassifier, SampleScaler

ESTIMATORS = [
    TSKRegressor(),
    TSKRegressor(n_rules=3, max_iter=50, projection="separate", init="kmeans", standardize=False),
    TSKClassifier(),
    TSKClassifier(n_rules=3, max_iter=50, recipe="droprule", projection="shared", init="kmeans"),
    TSKCommittee(3, TSKRegressor(max_iter=50)),
    TSKCommitteeClassifier(3, TSKClassifier(max_iter=50)),
    FuzzyCMeans(),
    SampleScaler(),
    MBGDClassifier(5, uniformities=(1.0,), max_epochs=40, n_trials=1),
]


# More rules than rows, coinciding centers and targets that are pure noise are warned of, and the checks have them all.
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
