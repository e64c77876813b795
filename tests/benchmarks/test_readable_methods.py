import numpy as np
import pytest

import _readable_methods
from _readable_methods import METHODS, describe_nothing, parse_cubist_rule
from _readings import Condition
from _rows import Rows

READERS = {
    "tree 8": "read_tree",
    "tree 20": "read_tree",
    "Cubist": "read_cubist",
    "Cubist 5": "read_cubist",
    "FIGS": "read_figs",
    "RuleFit": "read_rulefit",
    "linear tree 4": "read_linear_tree",
    "linear tree 8": "read_linear_tree",
    "highfis 5": "read_highfis",
    "PyTSK 5": "read_pytsk",
}
ADDED = ("FIGS", "RuleFit")
RULE = (
    'conds="2" cover="9" mean="3" loval="2" hival="4" esterr="0.1"\n'
    'type="2" att="a b" cut="0.22499999" result="<="\n'
    'type="2" att="c" cut="-1" result=">"\n'
    'coeff="2" att="c" coeff="-1.5" att="a b" coeff="1e-03"\n'
)
NAMES = {"a b": 0, "c": 1, "d": 2}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(330, 3)) * [1, 100, 0.01] + [0, 7, 0]
    y = 1000 + 50 * (X[:, 0] * (X[:, 1] > 0) + np.sin(X[:, 1] / 50)) + rng.normal(size=330)
    return Rows(X[:200], y[:200], X[200:250], y[200:250]), X[250:], y[250:]


@pytest.mark.filterwarnings("ignore")  # the peers' own
@pytest.mark.parametrize("name", READERS)
def test_rules_that_are_read_predict_what_the_model_predicts(name, rows):
    if not METHODS[name].is_installed:
        pytest.skip(f"needs {METHODS[name].pip}")
    rows, X, _ = rows
    model = METHODS[name].fit(rows, 0)
    reading = getattr(_readable_methods, READERS[name])(model, rows).read(X)
    if name in ADDED:
        rebuilt = reading.otherwise + (reading.held * (reading.said - reading.otherwise[:, None])).sum(axis=1)
    else:
        total = reading.strength.sum(axis=1)
        said = (reading.strength * reading.said).sum(axis=1) / np.where(total > 0, total, 1)
        rebuilt = np.where(total > 0, said, reading.otherwise)
    np.testing.assert_allclose(rebuilt, np.ravel(model.predict(X)), rtol=1e-5)


@pytest.mark.filterwarnings("ignore")  # the peers' own
@pytest.mark.parametrize("name", READERS)
def test_methods_are_described_by_sizes_and_truths(name, rows):
    if not METHODS[name].is_installed:
        pytest.skip(f"needs {METHODS[name].pip}")
    rows, X, y = rows
    method = METHODS[name]
    model = method.fit(rows, 0)
    size, truth = method.describe(model, rows, X, y)
    assert size.n_rules >= size.max_conditions / 3
    assert size.max_terms <= 3
    error = np.sqrt(np.mean((np.ravel(model.predict(X)) - y) ** 2))
    if "tree" in name:
        assert truth.strongest == pytest.approx(error, rel=1e-4)
        assert (truth.holds, truth.governs) == (1, 1)
    assert 0 <= truth.outside <= 1
    assert 0 <= truth.wild <= 1


def test_tree_is_read_as_a_tree(rows):
    rows, X, y = rows
    size, _ = METHODS["tree 8"].describe(METHODS["tree 8"].fit(rows, 0), rows, X, y)
    assert size[:3] == (8, 7, 0)


def test_short_rules_keep_to_their_size_and_are_measured_in_units_of_the_target(rows):
    rows, X, y = rows
    size, truth = METHODS["takagi 5"].describe(METHODS["takagi 5"].fit(rows, 0), rows, X, y)
    assert 2 <= size.n_rules <= 5
    assert size.max_conditions <= 3
    assert size.max_terms <= 4
    assert 1 < truth.strongest < y.std()
    assert 0.5 < truth.holds <= 1


def test_model_without_rules_has_no_size(rows):
    size, truth = describe_nothing(None, *rows)
    assert np.isnan([*size, *truth]).all()


def test_cubist_rule_is_parsed():
    rule = parse_cubist_rule(RULE, NAMES, extrap=0.1, floor=1.9, ceiling=9.0)
    assert rule.conditions == (Condition(0, True, float(np.float32(0.22499999))), Condition(1, False, -1.0))
    assert rule.formula.tolist() == [2.0, 0.001, -1.5, 0.0]
    assert (rule.low, rule.high) == (1.9, pytest.approx(4.2))


def test_cubist_rule_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="expected a rule of Cubist with thresholds"):
        parse_cubist_rule(RULE.replace('type="2"', 'type="3"', 1), NAMES, extrap=0.1, floor=0.0, ceiling=9.0)
