import json

import pytest

pytest.importorskip("matplotlib")

from takagi.cli._plot import PLOTS

FEATURES = {"response": ["--feature", "weight", "--feature", "fuel"], "membership": ["--feature", "weight"]}


@pytest.mark.parametrize("kind", list(PLOTS))
def test_every_kind_is_drawn(call, scratch, kind, listing):
    table = [] if kind == "history" else ["cars.csv"]
    code, out, _ = call("plot", "cars.takagi", kind, *table, *FEATURES.get(kind, []), "-o", "x.png", "-q")
    assert (code, out, listing()) == (0, "", ["x.png"])
    assert (scratch / "x.png").read_bytes().startswith(b"\x89PNG")
    assert (scratch / "x.png").stat().st_size > 5_000


def test_vectors_go_by_the_suffix_and_json_tells_the_file(call, scratch):
    code, out, _ = call("plot", "cars.takagi", "history", "-o", "x.svg", "--json")
    assert (code, json.loads(out)) == (0, {"output": "x.svg", "kind": "history"})
    assert "<svg" in (scratch / "x.svg").read_text()
    assert call("plot", "cars.takagi", "waterfall", "cars.csv", "--row", 7, "-o", "x.pdf")[0] == 0
    assert (scratch / "x.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("histoy", "-o", "x.png"), "kind 'histoy' is unknown, did you mean 'history'?"),
        (("grid", "-o", "x.png"), "a plot of grid needs a table"),
        (("history", "-o", "x.jpeg"), "the output x.jpeg must end in .png, .svg or .pdf."),
        (("history", "-o", "x.png", "--row", "3"), "--row is for waterfall, not for history."),
        (
            ("shares", "cars.csv", "-o", "x.png", "--feature", "fuel"),
            "--feature is for membership, grid, response, not",
        ),
        (("response", "cars.csv", "-o", "x.png"), "a response is that to one or two columns"),
        (("response", "cars.csv", "-o", "x.png", "--feature", "wieght"), "feature 'wieght' is unknown, did you mean"),
        (("waterfall", "cars.csv", "-o", "x.png", "--row", "900"), "cars.csv has 200 rows, 0 to 199"),
    ],
)
def test_misuse_is_exit_code_two(call, scratch, words, message, listing):
    code, out, err = call("plot", "cars.takagi", *words)
    assert (code, out, listing()) == (2, "", [])
    assert err.startswith(f"Error: {message}")
