import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from exported import error_of, example_models, example_rows, example_rules

from cases import make_part, make_rules, to_takagi
from takagi import Bend, RuleModel
from takagi._model import open_model
from takagi.export import read_fis, to_fis

SAYABLE = sorted(
    name for name, rules in example_rules().items() if rules.antecedent_projection is None and rules.limits is None
)
OCTAVE = shutil.which("octave-cli") or shutil.which("octave")


def has_toolkit():
    if OCTAVE is None:
        return False
    done = subprocess.run([OCTAVE, "--eval", "pkg load fuzzy-logic-toolkit"], capture_output=True, check=False)
    return done.returncode == 0


def rows_in_range(rules, text):
    """Return rows within the ranges that the file states, as Octave demands, at which firing does not underflow."""
    ranges = re.findall(r"\[Input\d+\]\nName=.*\nRange=\[(\S+) (\S+)\]", text)
    low, high = np.array(ranges, dtype=float).T
    X = np.vstack([np.random.default_rng(0).uniform(low, high, size=(40, len(low))), np.clip(rules.centers, low, high)])
    X = X[rules.log_firing(X).max(axis=1) > -600]
    assert len(X) > 5
    return X


@pytest.mark.parametrize("name", SAYABLE)
def test_what_is_written_is_read_back(name, tmp_path):
    rules = example_rules()[name]
    assert to_fis(rules, tmp_path / "rules.fis") == (tmp_path / "rules.fis").read_text()
    back = read_fis(tmp_path / "rules.fis")
    has_condition = np.isfinite(rules.widths)
    np.testing.assert_array_equal(back.widths, rules.widths)
    np.testing.assert_array_equal(back.centers[has_condition], rules.centers[has_condition])
    assert (back.sets is None) == (rules.sets is None)
    if rules.consequent_projection is None:
        np.testing.assert_array_equal(back.consequents, rules.consequents)
    X = example_rows(rules)
    X = X[~np.isnan(X).any(axis=1)]  # the format has no rules for what is missing
    assert error_of(back.predict(X), rules, X) < 1e-12


def test_plain_names_come_back(tmp_path):
    rules = example_rules()["plain"].rename(["speed", "load_2", "T"], ["force"])
    to_fis(rules, tmp_path / "rules.fis")
    assert read_fis(tmp_path / "rules.fis") == rules


def test_shared_sets_are_written_once(tmp_path):
    rules = example_rules()["grid"]
    text = to_fis(rules, tmp_path / "rules.fis")
    assert text.count("gaussmf") == 6
    np.testing.assert_array_equal(read_fis(tmp_path / "rules.fis").sets, rules.sets)


def test_ranges_are_those_of_the_data_and_never_empty():
    rules = open_model(example_models()["two targets"]).rules
    ranges = re.findall(r"Range=\[(\S+) (\S+)\]", to_fis(rules))
    spans = [rules.profile.span(m) for m in range(2)] + [
        tuple(rules.profile.output_quantiles[[0, -1], k]) for k in (0, 1)
    ]
    np.testing.assert_array_equal(np.array(ranges, dtype=float), spans)
    for name in SAYABLE:
        for low, high in re.findall(r"Range=\[(\S+) (\S+)\]", to_fis(example_rules()[name])):
            assert float(low) < float(high)


def test_conditions_on_projections_are_an_error():
    with pytest.raises(ValueError, match="cannot state conditions on trained projections"):
        to_fis(example_rules()["antecedent projection"])


def make_separable(seed):
    """Return a sum whose parts ask about different features."""
    rng = np.random.default_rng(seed)
    n_features, n_outputs = 4, 1 + seed % 3
    owner = rng.integers(-1, 3, size=n_features)  # -1 is nobody
    parts = [
        make_part(
            rng, np.flatnonzero(owner == k), n_features, n_outputs, n_rules=1 + (seed + k) % 4, with_intervals=k == 0
        )
        for k in range(1 + seed % 3)
    ]
    return RuleModel(tuple(parts))


@pytest.mark.parametrize("seed", range(12))
def test_a_sum_is_written_as_one_rule_base(seed, tmp_path):
    model = make_separable(seed)
    to_fis(model, tmp_path / "rules.fis")
    back = read_fis(tmp_path / "rules.fis")
    assert back.n_rules == np.prod([part.n_rules for part in model.parts])
    X = np.random.default_rng(seed).normal(size=(100, 4))
    np.testing.assert_allclose(back.predict(X), model.predict(X), rtol=1e-12, atol=1e-12)


def test_the_sets_of_a_sum_are_written_once():
    rng = np.random.default_rng(0)
    model = RuleModel(
        (make_part(rng, [0], n_rules=3), make_part(rng, [1, 2], n_rules=4), make_part(rng, [], n_rules=1))
    )
    text = to_fis(model)
    assert text.count("gaussmf") == 3 + 2 * 4
    assert "NumRules=12\n" in text
    assert "% The model is a sum of 3 rule bases; a rule here joins one rule of each.\n" in text


def test_projections_in_consequents_and_shared_sets_of_parts_are_written(tmp_path):
    rng = np.random.default_rng(1)
    folded = example_rules()["consequent projection"]
    shared = to_takagi(make_rules(rng, n_rules=4, n_sets=2))
    for part in (folded, shared):
        model = RuleModel((part, make_part(rng, [], n_features=3, n_rules=1)))
        to_fis(model, tmp_path / "rules.fis")
        X = example_rows(part)
        assert error_of(read_fis(tmp_path / "rules.fis").predict(X), model, X) < 1e-12


def test_the_ranges_of_a_sum_are_those_of_the_data():
    rules = open_model(example_models()["two targets"]).rules
    other = make_part(np.random.default_rng(0), [], n_features=2, n_outputs=2, n_rules=1)
    model = RuleModel((rules, other.rename(rules.feature_names, rules.output_names)))
    ranges = [re.findall(r"Range=\[(\S+) (\S+)\]", to_fis(written)) for written in (rules, model)]
    assert ranges[0] == ranges[1]


def test_what_no_file_can_say_of_a_sum_is_an_error(tmp_path):
    rng = np.random.default_rng(0)
    names = {"feature_names": ["age", "size", "rate", "load"]}
    bent = make_part(rng, [0], bends=[Bend(1, "log", 0.0, floor=0.1)], **names)
    with pytest.raises(ValueError, match=r"linear formulas and cannot state bends such as log\(size\). Export to C"):
        to_fis(bent, tmp_path / "rules.fis")
    both = RuleModel((make_part(rng, [0, 1], **names), make_part(rng, [1], **names)))
    with pytest.raises(ValueError, match=r"holds one rule base. .* condition on size. Export to C, ONNX or JSON"):
        to_fis(both, tmp_path / "rules.fis")
    many = RuleModel((make_part(rng, [0], n_rules=40, **names), make_part(rng, [1], n_rules=40, **names)))
    with pytest.raises(ValueError, match=r"this model would have 1600 rules; the most are 1,024. Export to C"):
        to_fis(many, tmp_path / "rules.fis")
    assert list(tmp_path.iterdir()) == []


def test_names_are_safe_and_comments_tell_the_real_ones():
    text = to_fis(example_rules()["odd names"])
    names = re.findall(r"^Name='(.*)'$", text, re.MULTILINE)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) for name in names)
    assert len({name.lower() for name in names}) == len(names)
    assert "% " + "  input grosse_m2 is größe (m²)\n" in text


def test_words_of_rules_are_no_names():
    text = to_fis(example_rules()["plain"].rename(["and", "is", "Then"]))
    assert re.findall(r"^Name='(.*)'$", text, re.MULTILINE)[1:] == ["and_2", "is_2", "Then_2", "y"]


def test_the_inputs_of_a_table_are_explained(tmp_path):
    model = example_models()["table"]
    text = to_fis(model, tmp_path / "cars.fis")
    assert "column age: a number; it must not be missing" in text
    assert "allow missing values of age, checked, which this format cannot express: give every input" in text
    assert "input fuel_diesel is fuel=diesel" in text
    opened = open_model(model)
    X = opened.rules.hold_rows(np.random.default_rng(0).normal(size=(20, opened.rules.n_features)))
    assert error_of(read_fis(tmp_path / "cars.fis").predict(X), opened.rules, X) < 1e-12


@pytest.mark.skipif(not has_toolkit(), reason="needs GNU Octave with its fuzzy-logic-toolkit")
def test_octave_evaluates_the_file_as_takagi_does(tmp_path):
    cases = {
        name: example_rules()[name] for name in SAYABLE if name != "many features"
    }  # Octave takes a minute to read them
    cases["table"] = open_model(example_models()["table"]).rules
    rows, script = {}, ["pkg load fuzzy-logic-toolkit"]
    for i, (name, rules) in enumerate(cases.items()):
        to_fis(example_models()["table"] if name == "table" else rules, tmp_path / f"{i}.fis")
        rows[name] = rows_in_range(rules, (tmp_path / f"{i}.fis").read_text())
        np.savetxt(tmp_path / f"{i}.in", rows[name], fmt="%.17g")
        script.append(
            f"f = readfis('{i}.fis'); y = evalfis(load('{i}.in'), f); writefis(f, 'back{i}.fis');"
            f"dlmwrite('{i}.out', y, ' ', 'precision', '%.17g');"
        )
    (tmp_path / "evaluate.m").write_text("\n".join(script))
    done = subprocess.run([OCTAVE, "--no-gui", "evaluate.m"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for i, (name, rules) in enumerate(cases.items()):
        assert error_of(np.loadtxt(tmp_path / f"{i}.out", ndmin=2), rules, rows[name]) < 1e-12, name
        back = read_fis(tmp_path / f"back{i}.fis")  # written with 15 digits
        assert error_of(back.predict(rows[name]), rules, rows[name]) < 1e-11, name


def test_a_comment_tells_the_limits_that_the_format_cannot_state(tmp_path):
    limits = [[-1.5, 2.0], [-np.inf, np.inf], [0.25, 0.25]]
    held = replace(example_rules()["plain"], limits=limits).rename(["speed", "load", "air temp"])
    text = to_fis(held, tmp_path / "rules.fis")
    comments = [line.removeprefix("% ") for line in text.splitlines() if line.startswith("%")]
    assert "  input speed: -1.5 to 2.0" in comments
    assert "  input air_temp: 0.25 to 0.25" in comments
    assert not any("input load" in line for line in comments)
    back, X = read_fis(tmp_path / "rules.fis"), example_rows(held)
    assert back.limits is None
    assert error_of(back.predict(np.clip(X, *np.array(limits).T)), held, X) < 1e-12
    assert "limits" not in to_fis(example_rules()["plain"])
