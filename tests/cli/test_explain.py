import json

import numpy as np
import pytest
from made_cars import make_cars

from takagi.inspection import explain_local
from takagi.persistence import load


def test_explanation_is_the_librarys_of_that_row(call, scratch):
    code, out, err = call("explain", "cars.takagi", "cars.csv", "--row", 5)
    text = str(explain_local(load("cars.takagi"), make_cars().iloc[[5]]))
    assert (code, out, err) == (0, f"{text.replace('row 0:', 'row 5:')}\n", "")


def test_rows_are_found_across_blocks_and_in_their_order(call, scratch, monkeypatch):
    monkeypatch.setattr("takagi.workflow._models._CELLS_PER_BLOCK", 8 * 30)
    code, out, _ = call("explain", "cars.takagi", "cars.csv", "--row", 150, "--row", 2, "--json")
    explained = json.loads(out)
    assert (code, [one["row"] for one in explained]) == (0, [150, 2])
    expected = load("cars.takagi").predict(make_cars())[[150, 2]]
    np.testing.assert_allclose([one["prediction"] for one in explained], expected, rtol=1e-12)
    for one in explained:
        total = one["base"] + sum(part["contribution"] for part in one["contributions"])
        np.testing.assert_allclose(total, one["prediction"], rtol=1e-9)
        assert abs(sum(rule["share"] for rule in one["rules"]) - 1) < 1e-9


def test_holes_are_shown_as_what_they_are_taken_for(call, scratch):
    row = int(np.flatnonzero(make_cars()["power"].isna())[0])
    code, out, _ = call("explain", "cars.takagi", "cars.csv", "--row", row)
    assert code == 0
    assert "power is missing: its conditions are ignored, and the formula uses" in " ".join(out.split())


@pytest.mark.parametrize("row", ["200", "-1", "x"])
def test_rows_that_are_not_there_are_misuse(call, scratch, row):
    code, out, err = call("explain", "cars.takagi", "cars.csv", "--row", row)
    assert (code, out) == (2, "")
    assert "cars.csv has 200 rows, 0 to 199, but not 200. See --row." in err or "Invalid value for '--row'" in err


def test_a_table_without_rows_is_told(call, scratch):
    make_cars(10).head(0).to_csv("new.csv", index=False)
    code, _, err = call("explain", "cars.takagi", "new.csv")
    assert (code, err) == (1, "Error: new.csv has names but no rows.\n")
