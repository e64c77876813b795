import json
import math
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from saved_models import (
    FRAME,
    MODELS,
    SCALERS,
    TABLES,
    X,
    Y,
    assert_same_model,
    assert_same_rules,
    same_bits,
    save_and_load,
    small,
)
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from cases import make_part
from takagi import Bend, RuleBase, RuleModel
from takagi.export import to_json
from takagi.initializers import RandomInitializer
from takagi.inspection import explain_local, export_text
from takagi.persistence import ModelFileError, save
from takagi.profile import Profile
from takagi.tables import TableEncoder


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:X does not have valid feature names"
)
def test_a_loaded_regressor_is_the_saved_one(make, tmp_path):
    model = make()
    if model.n_rules.__class__ is np.int64:  # comes back as Python's own number, which prints otherwise
        model.set_params(n_rules=2, l2=0.1)
    assert_same_model(save_and_load(model, tmp_path), model, X)


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_a_loaded_pipeline_is_the_saved_one(make, tmp_path):
    model = make()
    loaded = save_and_load(model, tmp_path)
    assert_same_model(loaded, model, FRAME)
    assert loaded[0].columns_ == model[0].columns_
    assert same_bits(loaded.predict(FRAME[["sold", "fuel", "age"]]), model.predict(FRAME))


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
@pytest.mark.parametrize(
    "kind", [np.asarray, lambda rows: np.float32(rows), lambda rows: pd.DataFrame(rows, columns=["a", "b"])]
)
def test_a_loaded_scaler_scales_the_same_bits(scaler, kind, tmp_path):
    table = kind(X)
    model = make_pipeline(clone(scaler), small()).fit(table, Y)
    loaded = save_and_load(model, tmp_path)
    assert_same_model(loaded, model, table)
    assert same_bits(loaded[0].transform(table), model[0].transform(table))


def test_a_loaded_model_can_be_cloned_fitted_and_saved_again(tmp_path):
    model = TABLES["table scaled"]()
    loaded = save_and_load(model, tmp_path)
    assert_same_model(clone(loaded).fit(FRAME, Y), model, FRAME)
    assert_same_model(pickle.loads(pickle.dumps(loaded)), model, FRAME)
    first = (tmp_path / "model.takagi").read_bytes()
    save(loaded, tmp_path / "model.takagi")
    assert (tmp_path / "model.takagi").read_bytes() == first


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_a_loaded_model_is_explained_and_exported_as_the_saved_one(make, tmp_path):
    model = make()
    loaded = save_and_load(model, tmp_path)
    assert export_text(loaded) == export_text(model)
    assert str(explain_local(loaded, FRAME[:3])) == str(explain_local(model, FRAME[:3]))
    assert to_json(loaded) == to_json(model)


def test_a_generator_is_saved_as_no_random_state(tmp_path):
    model = small(random_state=np.random.RandomState(3)).fit(X, Y)
    with pytest.warns(UserWarning, match="random_state=RandomState"):
        loaded = save_and_load(model, tmp_path)
    assert loaded.random_state is None
    assert same_bits(loaded.predict(X), model.predict(X))


def test_history_of_a_diverged_fit_comes_back(tmp_path):
    model = small().fit(X, Y)
    model.history_["val_loss"] = np.array([1.0, np.nan, 2.0, 3.0, 4.0])
    assert same_bits(save_and_load(model, tmp_path).history_["val_loss"], model.history_["val_loss"])


def numbers(shape, **limits):
    return hnp.arrays(float, shape, elements=st.floats(allow_nan=False, allow_infinity=False, **limits))


@st.composite
def rule_bases(draw):
    n_rules, n_features, n_outputs = draw(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2)))
    n_a, n_c = draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
    tied = draw(st.booleans()) and n_a > 0
    projection_a = draw(numbers((n_features + 1, n_a))) if n_a else None
    projection_c = projection_a if tied else draw(numbers((n_features + 1, n_c))) if n_c else None
    n_inputs_c = n_features + (n_a if tied else n_c)
    centers = draw(numbers((n_rules, n_a + n_features)))
    widths = draw(hnp.arrays(float, centers.shape, elements=st.floats(min_value=5e-324)))  # infinity among them
    sets = None
    if draw(st.booleans()):
        sets = draw(hnp.arrays(np.intp, centers.shape, elements=st.integers(0, n_rules - 1)))
        centers, widths = (np.take_along_axis(values, sets, axis=0) for values in (centers, widths))
    names = st.none() | st.lists(st.text(), min_size=n_features, max_size=n_features)
    profile = Profile(
        draw(st.integers(0, 10**12)),
        *(draw(numbers(shape)) for shape in (n_rules, n_features, (21, n_features), (21, n_outputs))),
    )
    return RuleBase(
        centers=centers,
        widths=widths,
        consequents=draw(numbers((n_rules, n_outputs, n_inputs_c + 1))),
        antecedent_projection=projection_a,
        consequent_projection=projection_c,
        tied_projection=tied,
        sets=sets,
        feature_names=draw(names),
        output_names=draw(st.none() | st.lists(st.text(), min_size=n_outputs, max_size=n_outputs)),
        profile=draw(st.none() | st.just(profile)),
    )


@pytest.mark.slow
@given(rule_bases())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_any_rule_base_comes_back_to_the_bit(tmp_path, rules):
    assert_same_rules(save_and_load(rules, tmp_path), rules)


class OwnInitializer(RandomInitializer):
    pass


UNSAVED = {
    "another estimator": (lambda: StandardScaler().fit(X), "got a StandardScaler"),
    "a search": (lambda: GridSearchCV(small(), {"n_rules": [1, 2]}, cv=2).fit(X, Y), "Save its best_estimator_"),
    "another pipeline": (lambda: make_pipeline(PCA()).fit(X), "got a Pipeline that ends in PCA"),
    "another step": (lambda: make_pipeline(PCA(), small()).fit(X, Y), "The step 'pca' is a PCA"),
    "a function": (lambda: make_pipeline(FunctionTransformer(np.exp), small()).fit(X, Y), "'functiontransformer'"),
    "own initializer": (lambda: small(init=OwnInitializer()).fit(X, Y), "parameter init=OwnInitializer"),
    "infinite parameter": (lambda: small().fit(X, Y).set_params(l2=math.inf), "parameter l2=inf"),
}


@pytest.mark.parametrize(("make", "message"), UNSAVED.values(), ids=UNSAVED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_that_a_file_cannot_hold_is_refused(make, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        save(make(), tmp_path / "model.takagi")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_is_not_fitted_is_refused(tmp_path):
    for model in (small(), make_pipeline(TableEncoder(), small())):
        with pytest.raises(NotFittedError):
            save(model, tmp_path / "model.takagi")


def make_sum_of_parts():
    rng, model = np.random.default_rng(7), MODELS["plain"]()
    bends = [Bend(0, "above", 0.5), Bend(1, "log", -3.0, floor=0.1), Bend(1, "up to", 10.0)]
    model.model_ = RuleModel([make_part(rng, [0, 1], n_features=2, bends=bends[:k]) for k in (3, 1, 0)])
    return model


DOCUMENTED = {
    name: MODELS[name] for name in ("plain", "two targets", "shared projection", "separate projections", "grid")
} | {"sum": make_sum_of_parts}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("make", DOCUMENTED.values(), ids=DOCUMENTED)
@pytest.mark.filterwarnings("ignore::takagi.ExtrapolationWarning")
def test_the_documented_javascript_predicts_the_same(make, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "model-file.md").read_text()
    script = page.split("```js\n")[1].split("```")[0]
    model = make()
    save(model, tmp_path / "model.takagi")
    (tmp_path / "read.mjs").write_text(
        script + "console.log(JSON.stringify(JSON.parse(process.argv[3]).map(predict)));\n"
    )
    rows = [[0.0, 0.0], [1.5, -2.0], [30.0, 40.0]]
    command = ["node", "read.mjs", "model.takagi", json.dumps(rows)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    expected = model.predict(rows).reshape(len(rows), -1)
    np.testing.assert_allclose(json.loads(done.stdout), expected, rtol=1e-10)
