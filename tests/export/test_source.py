import numpy as np
import pytest
from exported import error_of, example_rows, example_rules, example_sums
from scipy.special import softmax
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from takagi import TSKRegressor
from takagi.export import rules_to_dict, to_c, to_fis, to_json, to_onnx
from takagi.export._source import lay_out

EXPORTS = [to_c, to_fis, to_json, to_onnx]
X = np.random.default_rng(0).normal(size=(60, 3))
SMALL = {"n_rules": 2, "max_iter": 20, "random_state": 0}


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("step", [PCA(2), MinMaxScaler(clip=True)], ids=["PCA", "MinMaxScaler"])
def test_a_step_that_cannot_be_exported_is_an_error(export, step):
    model = make_pipeline(StandardScaler(), step, StandardScaler(), TSKRegressor(**SMALL)).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="of the steps before the rules, only a TableEncoder and scalers"):
        export(model)


@pytest.mark.parametrize("export", EXPORTS)
def test_what_is_no_fitted_model_is_an_error(export):
    with pytest.raises(NotFittedError, match="not fitted"):
        export(TSKRegressor())
    with pytest.raises(TypeError, match="model must be a fitted TSKRegressor"):
        export(Ridge())


def test_a_search_is_exported_as_the_model_it_found():
    search = GridSearchCV(make_pipeline(StandardScaler(), TSKRegressor(**SMALL)), {"tskregressor__n_rules": [2]}, cv=2)
    search.fit(X, X[:, 0])
    assert rules_to_dict(search) == rules_to_dict(search.best_estimator_)


@pytest.mark.parametrize("export", EXPORTS)
def test_a_file_is_written_whole_or_not_at_all(export, tmp_path):
    rules = example_rules()["plain"]
    export(rules, str(tmp_path / "rules"))
    written = (tmp_path / "rules").read_bytes()
    content = export(rules)
    assert written == (content.encode() if isinstance(content, str) else content.SerializeToString())
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        export(rules, tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "rules"]


@pytest.mark.parametrize("name", sorted(example_sums()))
def test_a_layout_predicts_as_the_model_does(name):
    model = example_sums()[name]
    layout, X = lay_out(model, "float64"), example_rows(model)
    held = X if layout.limits is None else np.clip(X, *layout.limits.T)
    bent = np.column_stack([held, *(bend.evaluate(held[:, bend.feature]) for bend in layout.bends)])
    z, start, outputs = bent - layout.origin, 0, 0.0
    a = z[:, : model.n_features]
    if layout.projection is not None:
        a = np.hstack([layout.projection[0] + a @ layout.projection[1:], a])
    for size in layout.part_sizes:
        here = slice(start, start + size)
        distance = np.nansum(((a[:, None] - layout.centers[here]) * layout.inverse[here]) ** 2, axis=2)
        share = softmax(-distance, axis=1)
        usual = np.zeros(z.shape[1]) if layout.usual is None else layout.usual[here]
        terms = np.where(np.isnan(z)[:, None], usual, z[:, None])
        values = layout.consequents[here, :, 0] + np.einsum("nrm,rom->nro", terms, layout.consequents[here, :, 1:])
        outputs = outputs + np.einsum("nr,nro->no", share, values)
        start += size
    assert error_of(outputs, model, X) < 1e-13


@pytest.mark.parametrize("name", ["shared projection", "separate projections"])
def test_folded_projections_predict_the_same(name):
    rules = example_rules()[name]
    folded = rules.fold_consequents()
    assert folded.consequent_projection is None
    assert folded.consequents.shape[2] == 1 + rules.n_features
    assert error_of(folded.predict(example_rows(rules)), rules, example_rows(rules)) < 1e-13
