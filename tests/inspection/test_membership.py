import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from takagi import TSKRegressor
from takagi.inspection import MembershipDisplay


@pytest.fixture(scope="module")
def fitted():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return TSKRegressor(n_rules=3, max_iter=100, random_state=0).fit(X, y), X


def test_curves_are_the_rules_sets_in_the_units_of_the_data(fitted):
    model, X = fitted
    display = MembershipDisplay.from_estimator(model, X, features=["bmi", 3])
    assert display.names == ["bmi", "bp"]
    curve = next(line for line in display.axes_[0].lines if line.get_label().startswith("rule 2"))
    grid, heights = curve.get_data()
    center, width = model.rule_base_.centers[1, 2], model.rule_base_.widths[1, 2]
    np.testing.assert_allclose(heights, np.exp(-0.5 * ((grid - center) / width) ** 2))
    assert grid.min() == X["bmi"].min()


def test_shares_of_the_legend_sum_to_one(fitted):
    display = MembershipDisplay.from_estimator(*fitted)
    assert display.share.sum() == pytest.approx(1.0)
    assert len(display.axes_) == 3


def test_projected_inputs_are_not_mistaken_for_features(fitted):
    X = fitted[1]
    model = TSKRegressor(n_rules=4, projection="separate", max_iter=50, random_state=0).fit(X, X["bmi"])
    display = MembershipDisplay.from_estimator(model, X, features=["age"])
    np.testing.assert_array_equal(display.centers[:, 0], model.rule_base_.centers[:, 2])


def test_unknown_feature_gets_the_nearest_name(fitted):
    with pytest.raises(ValueError, match="feature 'bmj' is unknown, did you mean 'bmi'"):
        MembershipDisplay.from_estimator(*fitted, features=["bmj"])
    with pytest.raises(ValueError, match="feature 10 is not among the 10 features"):
        MembershipDisplay.from_estimator(*fitted, features=[10])


def test_axes_must_match_the_features(fitted):
    display = MembershipDisplay.from_estimator(*fitted, features=[0, 1])
    with pytest.raises(ValueError, match="ax must be 2 axes"):
        display.plot(display.axes_[:1])
