import json

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

from takagi import load, save

N_KNOWN = 198  # cars with a price


@pytest.fixture
def fresh(scratch):
    """New cars, which are dearer by 4,000."""
    cars = make_cars(99, seed=1)
    cars["price"] += 4000
    cars.to_csv("new.csv", index=False)
    return cars


def test_update_says_what_changed_and_replaces_the_model(call, fresh, scratch):
    before = load("cars.takagi").predict(fresh)
    code, output, errors = call("update", "cars.takagi", "new.csv")
    assert code == 0
    assert "new.csv: 97 new rows, beside 198 rows of the fit" in output
    assert "RMSE on the new rows: " in output
    assert "Wrote cars.takagi" in output
    assert "2 rows without price left out" in errors
    moved = (load("cars.takagi").predict(fresh) - before).mean()
    assert 900 < moved < 1700  # a third of the rows say 4,000 more
    code, _, errors = call("update", "cars.takagi", "new.csv")  # once more
    assert (code, "100 % of these rows trained the model already" in errors) == (2, True)


def test_update_writes_elsewhere_and_prints_json(call, fresh, scratch):
    kept = (scratch / "cars.takagi").read_bytes()
    code, output, _ = call("update", "cars.takagi", "new.csv", "-o", "newer.takagi", "--json")
    found = json.loads(output)
    assert (code, found["n_before"], found["n_rows"], found["measure"]) == (0, N_KNOWN, 97, "RMSE")
    assert found["after"] < found["before"]
    assert [rule["number"] for rule in found["rules"]] == [1, 2, 3]
    assert np.isclose(sum(rule["share"] for rule in found["rules"]), 1)
    assert (scratch / "cars.takagi").read_bytes() == kept
    assert call("predict", "newer.takagi", "new.csv", "-q")[0] == 0


def test_short_rules_and_classes_go_on(call, fresh, scratch):
    call("fit", "cars.csv", "-t", "price", "-o", "short.takagi", "--rules", "2", "--no-score", "-q")
    assert call("update", "short.takagi", "new.csv")[0] == 0
    call("fit", "cars.csv", "-t", "fuel", "-o", "fuel.takagi", "--rules", "2", "--no-score", "-q")
    code, output, _ = call("update", "fuel.takagi", "new.csv")
    assert code == 0
    assert "log loss on the new rows: " in output
    assert "score of diesel" in output


@pytest.mark.parametrize("target", ["price", "fuel"])
def test_rows_of_the_fit_are_known_without_a_score(call, fresh, scratch, target):
    call("fit", "cars.csv", "-t", target, "-o", "m.takagi", "--rules", "2", "--no-score", "-q")
    kept = (scratch / "m.takagi").read_bytes()
    code, _, errors = call("update", "m.takagi", "cars.csv")
    assert (code, "100 % of these rows trained the model already, and would count twice" in errors) == (2, True)
    assert (scratch / "m.takagi").read_bytes() == kept
    assert call("update", "m.takagi", "new.csv", "-q")[0] == 0
    assert "100 % of these rows trained the model already" in call("update", "m.takagi", "new.csv")[2]


def test_some_known_rows_and_unknown_ones_are_noted(call, fresh, scratch):
    pd.concat([fresh, pd.read_csv("cars.csv")[:50]]).to_csv("mixed.csv", index=False)
    code, _, errors = call("update", "cars.takagi", "mixed.csv", "-o", "newer.takagi")
    assert (code, " of these rows trained the model already, and count twice." in errors) == (0, True)
    model = load("cars.takagi")
    del model[-1].known_rows_
    save(model, "forgetful.takagi")
    code, _, errors = call("update", "forgetful.takagi", "new.csv")
    assert (code, "the model file does not know the rows of its fit" in errors) == (0, True)


def test_what_cannot_be_is_said_and_nothing_is_written(call, fresh, scratch, listing):
    kept = (scratch / "cars.takagi").read_bytes()
    assert "trained the model already, and would count twice" in call("update", "cars.takagi", "cars.csv")[2]
    fresh[:4].to_csv("few.csv", index=False)
    assert "an update takes 5 at least" in call("update", "cars.takagi", "few.csv")[2]
    fresh.drop(columns="price").to_csv("blind.csv", index=False)
    assert "has no column 'price', the model's target" in call("update", "cars.takagi", "blind.csv")[2]
    assert call("update", "cars.takagi", "new.csv", "-o", "new.csv", "--force")[0] == 2
    assert (scratch / "cars.takagi").read_bytes() == kept
    assert listing() == ["blind.csv", "few.csv"]


def test_a_committee_says_what_to_do_instead(call, fresh, scratch):
    call("fit", "cars.csv", "-t", "price", "-o", "com.takagi", "--committee", "--iterations", "100", "--no-score", "-q")
    code, _, errors = call("update", "com.takagi", "new.csv")
    assert code == 2
    said = "a committee is fitted as a whole and cannot go on; fit one anew to the old and the new rows."
    assert f"{said} See takagi fit --committee." in errors
    assert "Pipeline" not in errors
