import json

import pytest
from made_cars import make_cars

pytest.importorskip("jinja2")


def test_report_is_a_page_about_the_rows_with_a_target(call, scratch, listing):
    code, out, err = call("report", "cars.takagi", "cars.csv", "-o", "report.html", "--title", "Used cars")
    assert (code, listing()) == (0, ["report.html"])
    assert out.startswith("Wrote report.html (")
    assert err == "Note: 2 rows without price left out.\n"
    page = (scratch / "report.html").read_text()
    assert "<title>Used cars" in page
    assert page.rstrip().endswith("</html>")


@pytest.mark.slow
def test_json_has_the_scores(call, scratch):
    code, out, _ = call("report", "cars.takagi", "cars.csv", "-o", "report.html", "--json", "-q")
    told = json.loads(out)
    assert (code, told["n_rows"]) == (0, 198)
    assert told["scores"][0]["scores"][0]["rmse"] < told["scores"][0]["scores"][-1]["rmse"]


@pytest.mark.slow
def test_target_may_have_another_name(call, scratch):
    make_cars().rename(columns={"price": "cost"}).to_csv("new.csv", index=False)
    code, _, err = call("report", "cars.takagi", "new.csv", "-o", "report.html")
    assert (code, err) == (
        2,
        "Error: new.csv has no column 'price', the model's target; name the column. See --target.\n",
    )
    code, *_ = call("report", "cars.takagi", "new.csv", "-o", "report.html", "--target", "cost")
    assert code == 0
    code, _, err = call("report", "cars.takagi", "new.csv", "-o", "report.txt", "--target", "cost")
    assert (code, err) == (2, "Error: the output report.txt must end in .html or .htm.\n")
