import json

import pytest

from takagi.persistence import load


def test_demo_shows_score_and_rules_and_writes_nothing(call, scratch, listing):
    code, out, _ = call("demo")
    assert (code, listing()) == (0, [])
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80
    assert "takagi, 3 rules" in out
    assert "Rule 3" in out


@pytest.mark.slow
def test_demo_writes_table_and_model_to_play_with_if_asked(call, scratch, listing):
    code, out, _ = call("demo", "-o", ".", "--rules", 2)
    assert (code, listing()) == (0, ["wine.csv", "wine.takagi"])
    assert "takagi explain wine.takagi wine.csv --row 3" in out
    assert load("wine.takagi")[-1].n_rules_ <= 2
    assert call("explain", "wine.takagi", "wine.csv", "--row", 3)[0] == 0
    assert call("demo", "-o", ".")[0] == 2
    assert call("demo", "-o", "nowhere")[0] == 2


@pytest.mark.slow
def test_demo_as_json(call, scratch):
    code, out, _ = call("demo", "--json", "-q")
    assert (code, sorted(json.loads(out))) == (0, ["rules", "score"])
