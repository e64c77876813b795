import json
import shutil

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

from takagi.persistence import load


@pytest.fixture
def two(call, scratch):
    """The model of the folder, and one of a single column, which is worse."""
    words = ("--drop", "power", "--drop", "fuel", "--droprule", "--rules", 1, "--iterations", 50, "--no-score", "-q")
    assert call("fit", "cars.csv", "-t", "price", "-o", "poor.takagi", *words)[0] == 0
    make_cars(300, seed=5).to_csv("new.csv", index=False)
    return scratch


def test_two_models_are_compared_on_new_rows(call, two):
    code, out, err = call("compare", "cars.takagi", "poor.takagi", "new.csv", "--json")
    found = json.loads(out)
    assert (code, "trained" in err) == (0, False)
    assert [score["who"] for score in found["scores"]] == ["cars.takagi", "poor.takagi", "the mean of these rows"]
    new = pd.read_csv("new.csv").dropna(subset="price")
    error = np.sqrt(np.mean((load("cars.takagi").predict(new) - new["price"]) ** 2))
    assert found["scores"][0]["error"] == pytest.approx(error)
    assert found["verdict"][0].startswith("Better than poor.takagi by ")
    code, out, _ = call("compare", "poor.takagi", "cars.takagi", "new.csv")
    assert code == 0
    assert "Score by the 298 rows of new.csv" in out
    assert "Worse than cars.takagi by " in out


def test_rows_that_trained_a_model_are_told_of(call, two):
    code, _, err = call("compare", "cars.takagi", "poor.takagi", "cars.csv")
    assert (code, "100 % of these rows trained cars.takagi, so its error here is too small." in err) == (0, True)


def test_what_cannot_be_compared_says_why(call, two):
    assert "name two models" in call("compare", "cars.takagi", "cars.takagi", "new.csv")[2]
    pd.read_csv("new.csv").head(4).to_csv("few.csv", index=False)
    code, _, err = call("compare", "cars.takagi", "poor.takagi", "few.csv")
    assert (code, "10 at least do" in err) == (2, True)
    shutil.copy("cars.csv", "other.csv")
    code, _, err = call("compare", "cars.takagi", "none.takagi", "other.csv")
    assert (code, "none.takagi" in err) == (2, True)
