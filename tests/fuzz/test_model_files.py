"""Model files with a right checksum and wrong content: refused, or a model that can be used in every way."""

import contextlib
import copy
import json
import random
import warnings

import numpy as np
import pytest
from hostile import ANYTHING, NUMBERS, attack, bounded
from hypothesis import given
from hypothesis import strategies as st
from saved_models import FRAME, MODELS, TABLES, ZEROS, X, Y, load_bytes, seal, seal_text, small

from takagi import TSKCommittee, export, save
from takagi.inspection import check_rules, explain_local, export_text, rule_table
from takagi.persistence import ModelFileError
from takagi.report import ModelReport

KINDS = {
    **{name: MODELS[name] for name in ("plain", "two targets", "separate projections", "grid")},
    "table": TABLES["table scaled"],
    "committee": lambda: TSKCommittee(n_members=2, estimator=small(), random_state=0).fit(X, Y),
    "short": lambda: small(recipe="short").fit(X, Y),
    "rules": lambda: small().fit(X, Y).rule_base_,
}
USES = {
    "predict": lambda model, table: model.predict(table),
    "text": lambda model, table: export_text(model),
    "table": lambda model, table: rule_table(model),
    "check": lambda model, table: str(check_rules(model, table, model.predict(table))),
    "explain": lambda model, table: str(explain_local(model, table[:3])),
    "C": lambda model, table: export.to_c(model),
    "JSON": lambda model, table: export.to_json(model),
    ".fis": lambda model, table: export.to_fis(model),
    "ONNX": lambda model, table: export.to_onnx(model),
    "report": lambda model, table: ModelReport(model, table, model.predict(table), simplify=False).to_html(),
}
REFUSALS = (ValueError, TypeError)  # with a message; anything else is a mistake of ours


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "model.takagi"
    found = {}
    for name, make in KINDS.items():
        save(make(), path)
        found[name] = json.loads(path.read_bytes())
    return lambda kind: found[kind]  # hypothesis would print all of them with a failure


def list_places(value, place=()):
    """Yield the places of all values in a document, those of lists and objects among them."""
    if place:
        yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inner:
        yield from list_places(entry, (*place, key))


def spoil(document, seed, value):
    """Return a document with another value in one place; half of the time it is a number in the place of a number."""
    document, rng = copy.deepcopy(document), random.Random(seed)
    places = list(list_places(document["model"]))
    if rng.random() < 0.7:
        places = [place for place in places if "parts" in place or "rules" in place] or places
    *way, last = rng.choice(places)
    target = document["model"]
    for key in way:
        target = target[key]
    target[last] = value
    return document


@attack
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 2**32), st.one_of(NUMBERS, ANYTHING))
def test_a_spoiled_file_is_refused_or_can_be_used(documents, tmp_path, kind, seed, value):
    table = FRAME if kind == "table" else X
    with warnings.catch_warnings(), bounded():
        warnings.simplefilter("ignore")
        try:
            model = load_bytes(seal(spoil(documents(kind), seed, value)), tmp_path)
        except ModelFileError:
            return
        for use in USES.values():
            with contextlib.suppress(*REFUSALS):
                use(model, table)
        save(model, tmp_path / "again.takagi")


@attack
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 2**32), st.binary(max_size=20))
def test_damaged_bytes_under_a_right_checksum_are_refused_or_read(documents, tmp_path, kind, seed, noise):
    unsealed = json.dumps(documents(kind) | {"sha256": ZEROS}, separators=(",", ":")).encode()
    content, rng = bytearray(unsealed), random.Random(seed)
    start = rng.randrange(len(content))
    content[start : start + rng.choice([0, 1, 5, 200])] = noise
    with warnings.catch_warnings(), bounded():
        warnings.simplefilter("ignore")
        with contextlib.suppress(ModelFileError):
            model = load_bytes(seal_text(bytes(content)), tmp_path)
            assert np.shape(model.predict(FRAME if kind == "table" else X))[0] == len(X)
