import json
from types import SimpleNamespace

import numpy as np
import pytest
from made_cars import make_cars

from takagi.cli._simplify import _Countdown
from takagi.persistence import load


def test_simplify_writes_a_smaller_model_and_says_what_it_costs(call, scratch, listing):
    code, out, err = call("simplify", "cars.takagi", "cars.csv", "-o", "small.takagi", "--max-loss", 0.1)
    assert (code, listing()) == (0, ["small.takagi"])
    assert " became " in out
    assert " % on a random quarter of the rows\n" in out
    assert out.endswith("Wrote small.takagi\n")
    assert "Simplifying 3 rules" in err
    conditions = [np.isfinite(load(name)[-1].rule_base_.widths).sum() for name in ("cars.takagi", "small.takagi")]
    assert conditions[1] < conditions[0]
    cars = make_cars().dropna(subset="price")
    assert load("small.takagi").score(cars, cars["price"]) > 0.5


@pytest.mark.slow
def test_limits_are_kept_and_json_tells_sizes(call, scratch):
    words = ("simplify", "cars.takagi", "cars.csv", "-o", "small.takagi", "--rules", 1, "--conditions", 0)
    code, out, _ = call(*words, "--json", "-q")
    told = json.loads(out)
    assert (code, told["after"]["n_rules"], told["after"]["n_conditions"]) == (0, 1, 0)
    assert told["before"]["n_rules"] == 3
    assert [rule["if"] for rule in told["rules"]] == ["anything"]
    code, _, err = call(*words, "--force", "--max-loss", 0)
    assert (code, "Error: max_loss=" in err) == ((1, True) if told["loss"] > 0 else (0, False))


def test_misuse_is_exit_code_two(call, scratch, listing):
    for words in (["-o", "cars.takagi"], ["-o", "s.takagi", "--max-rules", 0], ["-o", "s.takagi", "--target", "prise"]):
        assert call("simplify", "cars.takagi", "cars.csv", *words)[0] == 2
    assert listing() == []


def test_the_bar_counts_the_words_that_have_gone():
    told = []
    countdown = _Countdown(told.append)
    for step, n_words in enumerate((90, 25, 11, 1)):
        countdown(SimpleNamespace(step=step, n_words=n_words))
    assert [(event.done, event.total) for event in told] == [(0, 24), (14, 24), (24, 24)]
