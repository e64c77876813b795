import json

import pandas as pd

from takagi.inspection import export_text
from takagi.persistence import load


def test_rules_are_the_librarys_text(call, scratch):
    model = load("cars.takagi")
    assert call("rules", "cars.takagi") == (0, f"{export_text(model)}\n", "")


def test_rules_speak_of_another_table_if_one_is_given(call, scratch):
    light = pd.read_csv("cars.csv").query("weight < 1300")
    light.to_csv("light.csv", index=False)
    code, out, err = call("rules", "cars.takagi", "light.csv")
    assert (code, err) == (0, "")
    assert out == f"{export_text(load('cars.takagi'), light)}\n" != f"{export_text(load('cars.takagi'))}\n"


def test_rules_as_json_have_shares_that_add_up(call, scratch):
    code, out, _ = call("rules", "cars.takagi", "--json")
    rules = json.loads(out)
    assert (code, [list(rule) for rule in rules]) == (0, [["rule", "share", "if", "then", "+-"]] * 3)
    assert abs(sum(rule["share"] for rule in rules) - 1) < 1e-9
