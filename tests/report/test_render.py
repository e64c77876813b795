import base64
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from reported import HOSTILE, HOSTILE_TARGET, MODELS, cars, diabetes, hostile, make_report, wide

from takagi.report import _render


class Elements(HTMLParser):
    """The names and attributes of a page's elements."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


# -- the file ----------------------------------------------------------------------------------------------------------


def test_file_is_replaced_whole(tmp_path):
    path = tmp_path / "report.html"
    report = make_report()
    assert report.write_html(str(path)) == path
    path.write_text("old")
    report.write_html(path)
    assert path.read_text(encoding="utf-8") == report.to_html()
    assert list(path.parent.iterdir()) == [path]


def test_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"The folder .*nowhere does not exist; make it first"):
        make_report().write_html(tmp_path / "nowhere" / "report.html")


def test_folder_in_the_way_is_an_error_and_leaves_nothing(tmp_path):
    (tmp_path / "report.html" / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match=r"report\.html"):
        make_report().write_html(tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.slow
def test_pages_are_small():
    sizes = {source.__name__: len(make_report(source).to_html().encode()) for source in (diabetes, cars, wide)}
    assert sizes["diabetes"] < 150_000
    assert sizes["cars"] < 200_000
    assert sizes["wide"] < 2_000_000


def test_page_names_no_address():
    page = make_report().to_html()
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of SVG, which is not fetched
    elements = Elements(page).found
    assert all(attrs["href"].startswith(("#", "data:")) for _, attrs in elements if "href" in attrs)
    assert not any("src" in attrs for _, attrs in elements)


def test_hostile_names_make_no_elements():
    page = make_report(hostile, title="<b>bold</b>").to_html()
    tags = [tag for tag, _ in Elements(page).found]
    assert tags.count("script") == 2
    assert "img" not in tags
    for name in (*HOSTILE.values(), HOSTILE_TARGET, "<b>bold</b>"):
        assert "<" not in name or name not in page
    payload = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1)
    assert not set(payload) & set("<>&\u2028\u2029")
    assert json.loads(payload)["outputs"] == [HOSTILE_TARGET]


def test_text_that_is_no_unicode_is_replaced():
    assert "<title>half ?</title>" in make_report(title="half \ud800").to_html()


def test_notebook_gets_a_frame_of_its_own():
    report = make_report(hostile)
    ((tag, attrs),) = Elements(report._repr_html_()).found
    assert tag == "iframe"
    assert attrs["sandbox"] == "allow-scripts"
    assert attrs["srcdoc"] == report.to_html()


def test_missing_package_names_the_extra(monkeypatch):
    report = make_report(title="not yet rendered")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "takagi\[report\]"'):
        report.to_html()


# -- a page that would be too large ------------------------------------------------------------------------------------


def read_payload(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))


@pytest.mark.slow
def test_large_rules_are_packed():
    rules = read_payload(make_report(wide).to_html())["model"]["parts"][0]
    assert rules["centers"]["shape"] == [64, 500]
    numbers = np.frombuffer(base64.b64decode(rules["centers"]["base64"]), dtype="<f8").reshape(64, 500)
    np.testing.assert_array_equal(numbers, wide()[0].centers)


@pytest.mark.slow
def test_too_large_a_page_drops_rows_then_the_panel_then_columns(monkeypatch):
    report = make_report(cars)
    size = len(report.to_html().encode())
    found = []
    for limit in range(size, 60_000, -2_000):
        monkeypatch.setattr(_render, "MOST_BYTES", limit)
        try:
            page = _render.render_page(report.to_dict())
        except ValueError:
            break
        assert len(page.encode()) <= limit
        payload = read_payload(page)
        n_rows = len(payload["rows"]["cells"]) if payload["model"] else 0
        found += [n_rows] if n_rows not in found else []
    assert found == [100, 1, 0]
    assert 'id="what-if"' not in page
    assert "too large for this page" in page
    sets = payload["sets"]
    offset = report.to_dict()["model"]["parts"][0]["centers"][0]
    assert sets["0"][0]["centers"] == [offset[0]]
    monkeypatch.setattr(_render, "MOST_BYTES", 1_000)
    with pytest.raises(ValueError, match="bytes, more than"):
        _render.render_page(report.to_dict())


def test_too_many_columns_leave_the_most_important(monkeypatch):
    report = make_report(wide)
    monkeypatch.setattr(_render, "MOST_BYTES", 400_000)
    page = _render.render_page(report.to_dict())
    payload = read_payload(page)
    assert [column["name"] for column in payload["data"]["columns"][:3]] == [
        f"x{c}" for c in report.to_dict()["order"][:3]
    ]
    assert len(payload["data"]["columns"]) == len(payload["importance"][0]["overall"]) == 100
    assert payload["sets"]["0"][5]["centers"] == [wide()[0].centers[5, report.to_dict()["order"][0]]]
    assert "100 of 500 columns are listed" in " ".join(page.split())


# -- reading -----------------------------------------------------------------------------------------------------------


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(a, b):
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colors_have_enough_contrast(scheme):
    style = (_render._TEMPLATES / "report.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", style)
    pairs = re.findall(r"--([\w-]+): #(\w+);", blocks[scheme])
    colors = {name: f"#{value * 2 if len(value) == 3 else value}" for name, value in pairs}
    for text in ("ink", "quiet", "accent", "minus"):
        for ground in ("paper", "raised"):
            assert contrast(colors[text], colors[ground]) >= 4.5, (text, ground)
    for shape in ("field", "condition", "consequent", *(f"rule-{r}" for r in range(1, 9))):
        assert contrast(colors[shape], colors["paper"]) >= 3, shape


def test_formulas_end_with_how_far_they_are_off():
    report = make_report()
    spreads = [rule["spreads"][0] for rule in report.to_dict()["rules"]["list"]]
    page = report.to_html()
    assert all(f"± {spread}</span>" in page for spread in spreads)


def test_a_model_that_does_not_know_how_far_it_is_off_has_no_band():
    band = make_report().to_dict()["band"]
    assert (band["coverage"], len(band["half"])) == (0.9, 4)
    other = make_report(MODELS["sum"])
    assert other.to_dict()["band"] is None
    assert "standard deviation of the errors" not in other.to_html()
