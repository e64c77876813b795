import json

import numpy as np
import pytest
from saved_models import assert_same_model, edit, load_bytes, save_and_load, seal, small

from cases import make_part
from takagi import Bend
from takagi.kernels import split
from takagi.persistence import ModelFileError, save
from takagi.persistence._rules import encode_rules
from takagi.rulebase import pack

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2))
Y = X[:, 0] * X[:, 1] + X[:, 0]


def read_vectors(learner):
    """Return parameters and moments, without what only fills up blocks of rules."""
    shape = pack(learner.start)[1]
    return [part for vector in (learner.state.theta, learner.state.spread) for part in split(vector, shape).values()]


def same_state(one, other):
    """Whether two streams have the same state, to the bit."""
    arrays = [
        [*stream.seen.reservoir, *stream.seen.waiting, *stream.seen.recent, *map(np.asarray, stream.seen.x)]
        + ([] if stream.learner is None else read_vectors(stream.learner))
        for stream in (one, other)
    ]
    return (
        one.rng.bit_generator.state == other.rng.bit_generator.state
        and len(arrays[0]) == len(arrays[1])
        and all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(*arrays, strict=True))
    )


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    path = tmp_path_factory.mktemp("stream") / "model.takagi"
    save(small().partial_fit(X, Y), path)
    return json.loads(path.read_bytes())


def test_a_loaded_stream_is_the_saved_one(tmp_path):
    model = small().partial_fit(X, Y)
    loaded = save_and_load(model, tmp_path)
    assert_same_model(loaded, model, X)
    assert same_state(loaded.stream_, model.stream_)


def test_a_stream_that_waits_to_go_on_from_a_fit_is_saved(tmp_path):
    model = small().fit(X, Y).partial_fit(X[:20], Y[:20])
    loaded = save_and_load(model, tmp_path)
    assert_same_model(loaded, model, X)
    assert loaded.stream_.learner is None
    assert same_state(loaded.stream_, model.stream_)
    for one in (model, loaded):
        one.partial_fit(X, Y)
    assert model.stopped_ == "stream"
    assert loaded.rule_base_ == model.rule_base_


def test_a_fit_has_no_stream_in_its_file(tmp_path):
    save(small().fit(X, Y), tmp_path / "model.takagi")
    assert "stream" not in json.loads((tmp_path / "model.takagi").read_bytes())["model"]


def test_other_settings_may_be_tried_on_a_loaded_stream(tmp_path):
    loaded = save_and_load(small().partial_fit(X, Y), tmp_path).set_params(learning_rate=0.001, averaging=0.5)
    assert loaded.partial_fit(X, Y).n_iter_ == 10


EDITS = [
    ("rng.state", "xyz", 'stream.rng.state must be 32 hexadecimal digits, got "xyz"'),
    ("rng.has_uint32", None, "stream.rng.has_uint32 must be an integer"),
    ("seen", None, "stream.seen must be an object, got null"),
    ("seen.seed", -1, "stream.seen.seed must be an integer of at least 0"),
    ("seen.fraction", 1.0, "stream.seen.fraction must be a number between 0 and 1"),
    ("seen.n_rows", 0, "stream.seen.n_rows must be an integer of at least 1"),
    ("seen.x.mean", [0.0], "stream.seen.x.mean must be an array of shape (2,), got a list of 1"),
    ("seen.y.weight", 0, "stream.seen.y.weight must be a positive number"),
    ("seen.y.spread", None, "stream.seen.y.spread must be numbers in lists"),
    ("seen.waiting.X", [[1.0, 2.0]], "stream.seen.waiting.X must be"),
    ("seen.reservoir.weight.0", 0.0, "stream.seen.reservoir.weight must be positive numbers"),
    ("seen.reservoir.X.0", [1.0], "lists of equal lengths"),
    ("seen.recent", [], "stream.seen.recent must be an object"),
    ("learner.units.x_scale.1", 0.0, "stream.learner.units.x_scale must be positive numbers"),
    ("learner.is_constant", [False], "stream.learner.is_constant must be a list of 2 truth values"),
    ("learner.is_constant.0", 0, "stream.learner.is_constant[0] must be true or false"),
    ("learner.theta", [1.0], "stream.learner.theta must be an object"),
    ("learner.theta.widths.0.1", -1.0, "stream.learner.theta is refused: widths must be positive"),
    ("learner.theta.widths", [[1.0, 1.0]], "stream.learner.theta.widths must be an array of shape (2, 2)"),
    ("learner.best.centers.0.0", None, "stream.learner.best.centers must be finite numbers"),
    ("learner.mean.centers.0.0", "x", "stream.learner.mean.centers[0][0] must be a finite number"),
    ("learner.n_iter", -1, "stream.learner.n_iter must be an integer of at least 0"),
    ("learner.start.centers", [[0.0]] * 2, "stream.learner.start is refused"),
    ("learner.colour", 1, "stream.learner has a field 'colour', which is unknown"),
]


@pytest.mark.parametrize(("place", "value", "message"), EDITS, ids=lambda part: str(part)[:40])
def test_an_edited_stream_is_refused(place, value, message, document, tmp_path):
    with pytest.raises(ModelFileError) as caught:
        load_bytes(seal(edit(document, f"stream.{place}", value)), tmp_path)
    assert message in str(caught.value)


def test_a_history_without_iterations_belongs_to_no_stream(document, tmp_path):
    history = {name: [1.0] * document["model"]["n_iter"] for name in ("train_loss", "val_loss")}
    with pytest.raises(ModelFileError, match="learner must be null, since the history has no iterations"):
        load_bytes(seal(edit(document, "history", history)), tmp_path)


def test_curves_of_a_stream_are_of_one_length(document, tmp_path):
    with pytest.raises(ModelFileError, match=r"history.val_loss must be a list of n_iter = 1 numbers"):
        load_bytes(seal(edit(document, "history.val_loss", [1.0, 2.0])), tmp_path)


@pytest.mark.parametrize("with_bends", [True, False], ids=["bends", "two parts"])
def test_a_stream_beside_rules_that_are_not_trained_is_refused(with_bends, document, tmp_path):
    part = make_part(np.random.default_rng(0), [0], n_features=2, bends=[Bend(0, "above", 0.0)] * with_bends)
    encoded = encode_rules(part)
    edited = edit(document, "parts", [encoded] if with_bends else [encoded, encoded])
    with pytest.raises(
        ModelFileError, match=r"model.stream must be absent, since rules with bends or in several parts"
    ):
        load_bytes(seal(edited), tmp_path)


def test_a_stream_that_began_with_bends_is_refused(document, tmp_path):
    start = make_part(np.random.default_rng(0), [0], n_features=2, bends=[Bend(0, "above", 0.0)])
    edited = edit(document, "stream.learner.start", encode_rules(start))
    with pytest.raises(ModelFileError, match=r"model.stream.learner.start must be rules without bends"):
        load_bytes(seal(edited), tmp_path)
