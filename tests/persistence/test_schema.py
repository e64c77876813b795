import copy
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_models import (
    ZEROS,
    edit,
    load_bytes,
    seal,
    seal_text,
)
from sklearn.base import clone

from takagi.persistence import ModelFileError

COLUMN = ("source", "reading", "values")  # which columns in files of an older library lack
HEAD = b'{"format":"takagi-model","version":1,"takagi":"0","sha256":"' + ZEROS.encode() + b'","model":'
BOMBS = {
    "lists in lists": (b"[" * 100_000 + b"]" * 100_000, "nested too deep"),
    "objects in objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deep"),
    "many lists": (b"[" + b"[]," * 1_500_000 + b"[]]", "more than 1,000,000 lists"),
    "huge integer": (b"1" * 10_000, "not valid JSON"),
    "NaN": (b"NaN", "contains NaN"),
    "infinity": (b"[-Infinity]", "contains -Infinity"),
    "a key twice": (b'{"class":1,"class":2}', "field 'class' twice"),
    "broken": (b"[1,", "not valid JSON"),
    "broken text": (b'"\xff"', "not valid JSON"),
    "no object": (b"[1]", "model must be an object, got a list of 1"),
    "no class": (b"{}", "model has no field 'class'"),
}


@pytest.mark.parametrize(("model", "message"), BOMBS.values(), ids=BOMBS)
def test_hostile_json_is_refused_quickly_and_in_little_memory(model, message, tmp_path):
    content = seal_text(HEAD + model + b"}")
    tracemalloc.start()
    start = time.perf_counter()
    with pytest.raises(ModelFileError, match=message):
        load_bytes(content, tmp_path)
    seconds, peak = time.perf_counter() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22 + 20 * len(content)
    assert seconds < 10


EDITS = [
    (
        "class",
        "os.system",
        "model.class must be one of 'RuleBase', 'RuleModel', 'TSKRegressor', 'TSKClassifier',",
    ),
    ("steps", [], "model.steps must be a list of steps"),
    ("steps", "x", "model.steps must be a list"),
    ("steps.1.name", "tableencoder", "steps with different names"),
    ("steps.3.step.class", "TableEncoder", "model.steps[3].step.class must be one of 'TSKRegressor'"),
    ("steps.0.step.class", "TSKRegressor", "model.steps[0].step.class must be one of"),
    ("steps.0.step.class", ["TableEncoder"], "model.steps[0].step.class must be one of"),
    ("steps.3.step", None, "model.steps[3].step must be an object, got null"),
    ("steps.0.step.columns", [], "no column to learn from"),
    ("steps.0.step.columns.0.kind", "date", "columns[0].kind must be one of"),
    ("steps.0.step.columns.0.fill", "1", 'columns[0].fill must be a finite number, got "1"'),
    ("steps.0.step.columns.1.levels", ["a", 3], "columns[1].levels[1] must be a string, got 3"),
    ("steps.0.step.columns.1.levels", ["a", "a"], "inputs of one name, 'fuel=a'"),
    ("steps.0.step.columns.1.levels", ["a"], "takes 5 columns, but the step before it makes 4"),
    ("steps.0.step.columns.0.name", "sold", "inputs of one name, 'sold'"),
    ("steps.0.step.has_names", 1, "has_names must be true or false, got 1"),
    ("steps.0.step.output", "excel", "output must be one of 'default'"),
    ("steps.0.step.parameters.max_levels", 0, "steps[0].step.parameters is refused: The 'max_levels' parameter"),
    ("steps.1.step.fitted.mean_", None, "mean_ must be numbers in lists nested 1 deep, got null"),
    ("steps.1.step.fitted.mean_", [0.0], "mean_ must be a list of n_features = 5 numbers, got a list of 1"),
    ("steps.1.step.fitted.mean_.2", float("inf"), "contains Infinity"),
    ("steps.1.step.fitted.mean_.2", 10**400, "mean_[2] must be a finite number, got a huge integer"),
    ("steps.1.step.n_features", 10**9, "must be a list of n_features = 1000000000 numbers"),
    ("steps.1.step.n_features", -1, "n_features must be an integer of at least 1"),
    ("steps.2.step.parameters.quantile_range", "all", "steps[2].step.parameters is refused"),
    ("steps.3.step.parameters.n_rules", "two", "parameters is refused: The 'n_rules' parameter"),
    ("steps.3.step.parameters.n_rules", 10**40, "n_rules must be an integer, got a huge integer"),
    ("steps.3.step.parameters.colour", 1, "has a field 'colour', which is unknown"),
    ("steps.3.step.parameters.optimizer.class", "Popen", "optimizer.class must be one of"),
    ("steps.3.step.parameters.optimizer.beta1", "0.9", 'optimizer.beta1 must be a finite number, got "0.9"'),
    ("steps.3.step.parameters.optimizer.beta1", 2, "optimizer is refused: beta1 must be in [0, 1), got 2.0"),
    ("steps.3.step.parts.0.centers.0.0", "1.5", 'parts[0].centers[0][0] must be a finite number, got "1.5"'),
    ("steps.3.step.parts.0.centers.0.0", True, "parts[0].centers[0][0] must be a finite number, got true"),
    ("steps.3.step.parts.0.centers.1.2", None, "parts[0].centers[1][2] must be a finite number, got null"),
    ("steps.3.step.parts.0.centers.0", 1.5, "parts[0].centers must be numbers in lists nested 2 deep"),
    ("steps.3.step.parts.0.centers.0", [1.5], "parts[0].centers must have lists of equal lengths, got lengths 1 and 6"),
    ("steps.3.step.parts.0.centers", [], "parts[0] is refused: centers and widths"),
    ("steps.3.step.parts.0.centers", [[], []], "parts[0] is refused: centers and widths"),
    ("steps.3.step.parts.0.centers", None, "parts[0].centers must be numbers in lists nested 2 deep, got null"),
    ("steps.3.step.parts.0.widths.0.0", -1.0, "parts[0] is refused: widths must be positive, got -1.0"),
    ("steps.3.step.parts.0.widths.0.0", 0, "parts[0] is refused: widths must be positive"),
    ("steps.3.step.parts.0.widths.0.0", 1e999, "contains Infinity"),
    ("steps.3.step.parts.0.consequents", [[[1.0]]], "parts[0] is refused: consequents must have shape"),
    ("steps.3.step.parts.0.sets", [[0.5] * 6] * 2, "parts[0].sets must be numbers of sets"),
    ("steps.3.step.parts.0.sets", [[0] * 6] * 2, "parts[0] is refused: rules that share a set"),
    ("steps.3.step.parts.0.sets", [[10**200] * 6] * 2, "parts[0].sets must be numbers of sets"),
    ("steps.3.step.parts.0.tied_projection", None, "tied_projection must be true or false, got null"),
    ("steps.3.step.parts.0.feature_names", ["a"], "parts[0] is refused: feature_names must be 5 names"),
    ("steps.3.step.parts.0.profile.share", [1.0], "parts[0] is refused: profile must have 2 rules"),
    ("steps.3.step.parts.0.profile.n_rows", -1, "n_rows must be an integer of at least 0"),
    ("steps.3.step.is_single_target", "yes", "is_single_target must be true or false"),
    ("steps.3.step.n_iter", 6, "history.train_loss must be a list of n_iter = 6 numbers, got a list of 5"),
    ("steps.3.step.stopped", "tired", "stopped must be one of"),
    ("steps.3.step.history.val_loss", {"a": 1}, "val_loss must be numbers in lists nested 1 deep, got an object"),
    ("steps.3.step.feature_names", ["a", "b"], "feature_names must be a list of 5 names"),
    ("verbose", 0, "model.verbose must be true or false"),
    ("extra", 0, "model has a field 'extra', which is unknown"),
]


@pytest.mark.parametrize(("place", "value", "message"), EDITS, ids=lambda part: str(part)[:40])
def test_an_edited_field_is_named(place, value, message, table_document, tmp_path):
    with pytest.raises(ModelFileError) as caught:
        load_bytes(seal(edit(table_document, place, value)), tmp_path)
    assert message in str(caught.value)


def list_places(value, place=()):
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from list_places(item, (*place, str(key)))


def test_every_field_is_needed_or_has_a_default(table_document, tmp_path):
    for place in list_places(table_document["model"]):
        if not place or place[-1].isdigit():
            continue
        document = copy.deepcopy(table_document)
        target = document["model"]
        for part in place[:-1]:
            target = target[int(part) if part.isdigit() else part]
        del target[place[-1]]
        if (
            place[-2:-1] == ("parameters",)
            or place[-1] in ("calibration", "limits")
            or ("columns" in place and place[-1] in COLUMN)
        ):  # as a file of an older library
            load_bytes(seal(document), tmp_path)
        else:
            with pytest.raises(ModelFileError, match=f"has no field '{place[-1]}'"):
                load_bytes(seal(document), tmp_path)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["passthrough", "TSKRegressor"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.data(), JSON_VALUES)
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_edit_is_refused_or_gives_a_model_that_works(table_document, tmp_path, data, value):
    places = [place for place in list_places(table_document["model"]) if place]
    place = data.draw(st.sampled_from(places))
    try:
        model = load_bytes(seal(edit(table_document, ".".join(place), value)), tmp_path)
    except ModelFileError:
        return
    clone(model)
    repr(model)
    assert model[-1].rule_base_.predict(np.zeros((1, 5))).shape == (1,)
