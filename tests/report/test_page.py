"""The page in a browser: it is opened, moved with mouse and keyboard, and asked for its numbers."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from reported import (
    HOSTILE,
    HOSTILE_LEVELS,
    HOSTILE_TARGET,
    MODELS,
    cars,
    diabetes,
    resize,
    three_classes,
    two_classes,
)
from sklearn.metrics import confusion_matrix

from sums import cars_sum
from takagi import predict_interval
from takagi.inspection import explain_local
from takagi.report import ModelReport

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.slow

READ = """
const { share, prediction, byCondition, byConsequent, cells, base, output } = window.takagi.panel;
return { share: [...share], prediction: [...prediction], byCondition, byConsequent, cells, base: base[output] };
"""


def open_page(browser, path):
    browser.get(path.as_uri())
    return [entry for entry in browser.get_log("browser") if entry["level"] != "DEBUG"]


def find(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def press(browser, *keys):
    """Press keys where the focus is."""
    for key in keys:
        browser.switch_to.active_element.send_keys(key)


def tab_to(browser, selector, most=200):
    """Walk with the tabulator alone until an element has the focus."""
    for _ in range(most):
        press(browser, Keys.TAB)
        if browser.execute_script("return document.activeElement.matches(arguments[0])", selector):
            return browser.switch_to.active_element
    raise AssertionError(f"the tabulator does not reach {selector}")


def read_texts(browser, selector):
    return {node.get_attribute("textContent") for node in browser.find_elements(By.CSS_SELECTOR, selector)}


def overflow(browser):
    return browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth")


# -- opening -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_opens_without_an_error_and_asks_no_host(browser, pages, name):
    path = pages(name)
    assert open_page(browser, path) == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert {url for url in asked if not url.startswith("data:")} == {path.as_uri()}
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert len(browser.find_elements(By.CSS_SELECTOR, "#what-if-controls .control")) > 0


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_the_window(browser, pages, name, width):
    resize(browser, width)
    open_page(browser, pages(name))
    assert overflow(browser) <= 0
    browser.execute_script("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    assert overflow(browser) <= 0


def test_hostile_names_are_shown_and_never_run(browser, pages):
    open_page(browser, pages("hostile"))
    found = browser.execute_script("return [window.hacked, document.scripts.length, document.images.length]")
    assert found == [None, 2, 0]
    assert find(browser, "#what-if-name").text == HOSTILE_TARGET
    assert read_texts(browser, ".control .head label") == set(HOSTILE.values())
    assert set(HOSTILE_LEVELS.values()) <= read_texts(browser, ".control option")
    assert HOSTILE["weight"] in find(browser, "#rule-table").text
    assert HOSTILE["doors"] in find(browser, "#data-table").text


def test_a_script_that_slipped_in_would_not_run(browser, pages, tmp_path):
    page = pages("diabetes").read_text(encoding="utf-8").replace("</main>", "</main><script>window.hacked = 5</script>")
    path = tmp_path / "slipped.html"
    path.write_text(page, encoding="utf-8")
    messages = open_page(browser, path)
    assert browser.execute_script("return window.hacked") is None
    assert any("Content Security Policy" in entry["message"] for entry in messages)


# -- the same numbers as in Python -------------------------------------------------------------------------------------


def compare(browser, model, row, output=0):
    """Assert that the panel says of its row what Python says of it."""
    shown = browser.execute_script(READ)
    expected = explain_local(model, row)
    scale = np.abs(expected.contributions[0, output]).max() + np.abs(expected.by_condition[0, output]).max()
    prediction = model.predict(row).reshape(-1)
    np.testing.assert_allclose(shown["prediction"], prediction, rtol=1e-9)
    np.testing.assert_allclose(shown["share"], expected.share[0], atol=1e-9)
    np.testing.assert_allclose(shown["base"], expected.base[output], rtol=1e-9)
    np.testing.assert_allclose(shown["byCondition"], expected.by_condition[0, output], atol=1e-6 * scale)
    np.testing.assert_allclose(shown["byConsequent"], expected.by_consequent[0, output], atol=1e-6 * scale)
    text = find(browser, "#what-if-prediction").get_attribute("data-value")
    np.testing.assert_allclose(float(text), prediction[output], rtol=1e-9)


def read_row(browser, like):
    """Return the panel's cells as a table with the columns of another."""
    report = browser.execute_script("return window.takagi.report.data.columns")
    values = {}
    for column, cell in zip(report, browser.execute_script(READ)["cells"], strict=True):
        if cell is None or column["kind"] == "unused":
            values[column["name"]] = None
        elif column["kind"] == "category":
            level = column["levels"][cell] if cell >= 0 else "never seen"
            values[column["name"]] = None if level == "missing" else level
        else:
            values[column["name"]] = bool(cell) if column["kind"] == "boolean" else cell
    return pd.DataFrame({name: pd.Series([values[name]], dtype=like.get(name)) for name in values})


@pytest.mark.parametrize("name", ["diabetes", "far", "cars", "projected", "sum", "sum of a table"])
def test_panel_starts_at_the_row_with_the_prediction_of_python(browser, pages, name):
    model, X, _ = MODELS[name]()
    open_page(browser, pages(name))
    compare(browser, model, X.iloc[[3]])
    assert find(browser, "#what-if-row").get_property("value") == str(
        browser.execute_script("return window.takagi.report.rows.numbers.indexOf(3)")
    )


@pytest.mark.parametrize("name", ["diabetes", "projected"])
def test_the_band_around_the_prediction_is_the_interval_of_python(browser, pages, name):
    model, X, _ = MODELS[name]()
    open_page(browser, pages(name))
    band = find(browser, "#what-if-band")
    limits = [float(band.get_attribute(f"data-{side}")) for side in ("low", "high")]
    np.testing.assert_allclose(limits, predict_interval(model, X.iloc[[3]]).reshape(-1, 2)[0], rtol=1e-6)
    assert band.text.startswith("90 % interval: ")


@pytest.mark.parametrize("name", ["diabetes", "sum"])
def test_sliders_moved_to_ten_random_points_agree_with_python(browser, pages, name):
    model, X, _ = MODELS[name]()
    open_page(browser, pages(name))
    rng = np.random.default_rng(0)
    for _ in range(10):
        for slider in browser.find_elements(By.CSS_SELECTOR, "#what-if-controls input[type=range]"):
            place = int(rng.integers(0, int(slider.get_attribute("max")) + 1))
            browser.execute_script(
                "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'));", slider, place
            )
        row = read_row(browser, X.dtypes)
        assert all(X[name].min() - 30 <= row[name][0] <= X[name].max() + 30 for name in X)
        compare(browser, model, row.astype(float))


@pytest.mark.parametrize("name", ["cars", "projected"])
@pytest.mark.filterwarnings("ignore:Column 'fuel' has 1 level", "ignore::takagi.ExtrapolationWarning")
def test_controls_of_every_kind_agree_with_python(browser, pages, name):
    model, _, _ = MODELS[name]()
    open_page(browser, pages(name))
    rng = np.random.default_rng(1)
    kinds = {"power": "object", "checked": "object", "fuel": "object", "empty": "object"}
    seen = set()
    for _ in range(10):
        for control in browser.find_elements(By.CSS_SELECTOR, "#what-if-controls .control"):
            set_at_random(browser, control, rng)
        row = read_row(browser, kinds)
        seen |= {("fuel", row["fuel"][0]), ("power", row["power"][0] is None), ("checked", row["checked"][0])}
        compare(browser, model, row)
    without = {("power", True), ("checked", None)} if name == "cars" else set()  # projections need every number
    assert {("fuel", None), ("fuel", "never seen"), ("power", False)} | without <= seen


def test_controls_of_a_sum_with_bends_agree_with_python(browser, pages):
    model, _, _ = cars_sum()
    open_page(browser, pages("sum of a table"))
    rng = np.random.default_rng(2)
    for output in (0, 1, 0, 1, 0):
        choose = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'));"
        browser.execute_script(choose, find(browser, "#output"), output)
        for control in browser.find_elements(By.CSS_SELECTOR, "#what-if-controls .control"):
            set_at_random(browser, control, rng)
        row = read_row(browser, {"power": "object", "fuel": "object"})
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Column 'fuel' has 1 level")
            compare(browser, model, row, output)


def set_at_random(browser, control, rng):
    """Choose a level, type a number, or call the value missing."""
    choose = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event(arguments[2]));"
    select = control.find_elements(By.CSS_SELECTOR, "select")
    if select:
        n_choices = len(select[0].find_elements(By.CSS_SELECTOR, "option")) - 1  # the last is the average
        browser.execute_script(choose, select[0], int(rng.integers(n_choices)), "change")
        return
    missing = control.find_elements(By.CSS_SELECTOR, ".missing input")
    if missing and rng.random() < 0.4:
        browser.execute_script("if (!arguments[0].checked) arguments[0].click()", missing[0])
        return
    box = control.find_element(By.CSS_SELECTOR, "input[type=number]")
    browser.execute_script(choose, box, repr(float(rng.normal(1000, 400))), "input")


def test_other_rows_and_the_average_row(browser, pages):
    model, X, _ = cars()
    open_page(browser, pages("cars"))
    find(browser, "#what-if-next").click()
    row = browser.execute_script("return window.takagi.report.rows.numbers[window.takagi.panel.row]")
    assert row == 4
    compare(browser, model, X.iloc[[4]])
    assert find(browser, "#what-if-start").text.startswith("row 4: actual")
    browser.execute_script(
        "const row = arguments[0]; row.value = -1; row.dispatchEvent(new Event('change'));",
        find(browser, "#what-if-row"),
    )
    shown = browser.execute_script(READ)
    assert np.abs(np.add(shown["byCondition"], shown["byConsequent"])).max() == 0
    np.testing.assert_allclose(shown["prediction"][0], shown["base"], rtol=1e-12)
    np.testing.assert_allclose(shown["base"], explain_local(model, X.head(1)).base[0], rtol=1e-9)


def test_bars_of_whole_numbers_stand_at_their_numbers(browser, pages):
    open_page(browser, pages("cars"))
    bars, ticks = browser.execute_script("""
        const figures = [...document.querySelectorAll("#set-list figure")];
        const figure = figures.find((node) => node.innerText.includes("doors"));
        const bars = [...figure.querySelector(".ground").getAttribute("d").matchAll(/M([\\d.]+) .*?H([\\d.]+)V/g)];
        const texts = [...figure.querySelectorAll("text")].map((node) => [node.textContent, node.getAttribute("x")]);
        return [bars.map(([, from, to]) => (Number(from) + Number(to)) / 2), Object.fromEntries(texts)];
    """)
    np.testing.assert_allclose([float(ticks[str(n)]) for n in (2, 3, 4, 5)], bars, atol=0.2)


def test_another_output_is_shown_everywhere(browser, pages):
    model, X, _ = cars()
    open_page(browser, pages("cars"))
    find(browser, "#output").send_keys("co2")
    compare(browser, model, X.iloc[[3]], output=1)
    assert find(browser, "#what-if-name").text == "co2"
    assert find(browser, "#rule-1 .then").text.startswith("co2 =")
    assert len([t for t in browser.find_elements(By.CSS_SELECTOR, "table.score") if t.is_displayed()]) == 1
    assert "co2" in find(browser, "#scatter svg").get_attribute("aria-label")


# -- classes -----------------------------------------------------------------------------------------------------------


def compare_classes(browser, model, row, output):
    """Assert that the panel gives the probability, and the contributions to log-odds or a score, that Python gives."""
    shown, expected = browser.execute_script(READ), explain_local(model, row)
    np.testing.assert_allclose(shown["prediction"], expected.prediction[0], rtol=1e-9)
    contributions = np.add(shown["byCondition"], shown["byConsequent"])
    np.testing.assert_allclose(contributions, expected.contributions[0, output], atol=1e-6)
    probability = float(find(browser, "#what-if-prediction").get_attribute("data-value"))
    np.testing.assert_allclose(probability, expected.probability[0, output], rtol=1e-9)


def test_panel_of_two_classes_gives_the_probability(browser, pages):
    model, X, y = two_classes()
    open_page(browser, pages("two classes"))
    compare_classes(browser, model, X.iloc[[3]], 0)
    assert browser.execute_script("return window.hacked") is None
    assert find(browser, "#what-if-name").text == "probability of cheap"
    assert find(browser, "#what-if-band").text.startswith("log-odds of cheap: ")
    assert find(browser, "#what-if-start").text.startswith("row 3: actual ")
    np.testing.assert_allclose(
        float(find(browser, "#what-if-prediction").get_attribute("data-value")), model.predict_proba(X.iloc[[3]])[0, 1]
    )
    assert find(browser, "#what-if-start").text.removeprefix("row 3: actual ") == y[3]


def test_another_class_is_shown_everywhere(browser, pages):
    model, X, _ = three_classes()
    open_page(browser, pages("three classes"))
    find(browser, "#output").send_keys("virginica")
    compare_classes(browser, model, X.iloc[[3]], 2)
    assert find(browser, "#what-if-name").text == "probability of virginica"
    assert find(browser, "#rule-1 .then").text.startswith("score of virginica =")
    for chart in ("#reliability svg", "#roc svg"):
        assert "virginica" in find(browser, chart).get_attribute("aria-label")
    assert find(browser, "table.score").is_displayed()


def read_confusion(browser):
    rows = browser.find_elements(By.CSS_SELECTOR, "#confusion tbody tr")
    return [[int(cell.text) for cell in row.find_elements(By.TAG_NAME, "td")] for row in rows]


def test_the_threshold_moves_the_confusion_matrix(browser, pages):
    model, X, y = two_classes()
    probability = model.predict_proba(X)[:, 1]
    open_page(browser, pages("two classes"))
    assert read_confusion(browser) == confusion_matrix(y, model.predict(X)).tolist()
    slider = find(browser, "#threshold")
    slider.send_keys(Keys.HOME)
    assert read_confusion(browser) == [[0, int((y != "cheap").sum())], [0, int((y == "cheap").sum())]]
    slider.send_keys(*[Keys.ARROW_RIGHT] * 7)
    predicted = model.classes_[(probability >= 0.07).astype(int)]
    assert read_confusion(browser) == confusion_matrix(y, predicted).tolist()
    assert find(browser, "#threshold-value").text == "7 %"


def test_parts_of_a_sum_have_headings_and_are_sorted_and_searched_by_themselves(browser, pages):
    open_page(browser, pages("sum"))
    names = ["Main rules", "Adjustment 1", "Adjustment 2"]
    assert [node.text for node in browser.find_elements(By.CSS_SELECTOR, "#rule-table .part")] == names
    assert [node.text for node in browser.find_elements(By.CSS_SELECTOR, "#what-if-rules h4")] == names
    assert find(browser, "#rule-1 .then").text.startswith("progression = ")
    assert find(browser, "#rule-4 .then").text.startswith("add to progression: ")
    assert " ".join(find(browser, "#rule-4 .if").text.split()) == "bp below 95"
    find(browser, "th[data-sort=number] button").click()
    bodies = browser.find_elements(By.CSS_SELECTOR, "#rule-table tbody")
    numbers = [[r.get_attribute("id") for r in body.find_elements(By.TAG_NAME, "tr")] for body in bodies]
    assert numbers == [["", "rule-3", "rule-2", "rule-1"], ["", "rule-5", "rule-4"], ["", "rule-6"]]
    find(browser, "#rule-search").send_keys("max(age")
    assert find(browser, "#rule-count").text == "2 of 6 rules"
    told = browser.find_elements(By.CSS_SELECTOR, "#what-if-rules summary .number:last-child")
    verbs = [node.get_attribute("textContent").split()[0] for node in told]
    assert verbs == ["says"] * 3 + ["adds"] * 3
    assert "No rule has a condition on" in find(browser, "#sets").text


def test_smaller_models_are_shown(browser, pages):
    open_page(browser, pages("diabetes"))
    rows = browser.find_elements(By.CSS_SELECTOR, "#simpler tbody tr")
    words = [int(row.find_elements(By.TAG_NAME, "td")[2].text) for row in rows]
    assert words == sorted(words, reverse=True)
    assert len(words) == 3
    assert find(browser, "#trade-off svg").get_attribute("aria-label").startswith("Validation error of smaller")
    details = find(browser, "#simpler details")
    assert not details.find_element(By.TAG_NAME, "pre").is_displayed()
    details.find_element(By.TAG_NAME, "summary").click()
    assert details.find_element(By.TAG_NAME, "pre").text.startswith("Rule 1")


def test_values_beyond_the_data_are_marked(browser, pages):
    open_page(browser, pages("diabetes"))
    mark = find(browser, "#what-if-controls .control .outside")
    box = find(browser, "#what-if-controls .control input[type=number]")
    assert not mark.is_displayed()
    box.clear()
    box.send_keys("9999")
    assert mark.is_displayed()
    assert mark.text.startswith("outside the training data, ")
    find(browser, "#what-if-reset").click()
    assert not mark.is_displayed()


@pytest.mark.filterwarnings("ignore::takagi.ExtrapolationWarning")
def test_values_far_beyond_the_data_are_held_as_in_python(browser, pages):
    model, X, _ = MODELS["diabetes"]()
    open_page(browser, pages("diabetes"))
    box = find(browser, "#what-if-controls .control input[type=number]")
    name = find(browser, "#what-if-controls .control label").text
    low, high = model.model_.limits[list(X).index(name)]
    for value, limit in ((2 * high - low, high), (low - 1e6, low)):
        box.clear()
        box.send_keys(str(value))
        compare(browser, model, read_row(browser, X.dtypes).astype(float))
        mark = find(browser, "#what-if-controls .control .outside").text
        assert float(mark.partition("; counts as ")[2].replace("−", "-")) == pytest.approx(limit, rel=1e-3)  # noqa: RUF001
        assert "counts as" in find(browser, "#what-if-contributions").text


# -- by keyboard -------------------------------------------------------------------------------------------------------


def test_keyboard_alone_moves_a_slider(browser, pages):
    model, X, _ = diabetes()
    open_page(browser, pages("diabetes"))
    before = browser.execute_script(READ)["prediction"][0]
    tab_to(browser, "#what-if-controls input[type=range]")
    press(browser, *[Keys.ARROW_RIGHT] * 5)
    assert browser.execute_script(READ)["prediction"][0] != before
    assert browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle") != "none"
    compare(browser, model, read_row(browser, X.dtypes).astype(float))


def test_keyboard_alone_sorts_and_searches_the_rules(browser, pages):
    open_page(browser, pages("diabetes"))
    search = tab_to(browser, "#rule-search")
    search.send_keys("no such words")
    assert find(browser, "#rule-count").text == "0 of 4 rules"
    assert not any(row.is_displayed() for row in browser.find_elements(By.CSS_SELECTOR, "#rule-table tbody tr"))
    search.send_keys(Keys.BACKSPACE * 20)
    assert all(row.is_displayed() for row in browser.find_elements(By.CSS_SELECTOR, "#rule-table tbody tr"))
    tab_to(browser, "th[data-sort=loss] button")
    for order, is_sorted in (("descending", lambda a: a == sorted(a)[::-1]), ("ascending", lambda a: a == sorted(a))):
        press(browser, Keys.ENTER)
        assert find(browser, "th[data-sort=loss]").get_attribute("aria-sort") == order
        rows = browser.find_elements(By.CSS_SELECTOR, "#rule-table tbody tr")
        assert is_sorted([float(row.get_attribute("data-sort-loss")) for row in rows])


def test_keyboard_alone_opens_a_rule_that_fires(browser, pages):
    open_page(browser, pages("diabetes"))
    summary = tab_to(browser, "#what-if-rules summary")
    press(browser, Keys.ENTER)
    opened = find(browser, "#what-if-rules details[open]")
    number = summary.find_element(By.CSS_SELECTOR, ".which").text.split()[-1]
    assert opened.find_element(By.CSS_SELECTOR, ".then").text == find(browser, f"#rule-{number} .then").text


def test_skip_link_comes_first(browser, pages):
    open_page(browser, pages("diabetes"))
    press(browser, Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the report"
    press(browser, Keys.ENTER)
    assert browser.execute_script("return document.activeElement.id") == "score"


@pytest.mark.parametrize("name", ["cars", "wide", "two classes"])
def test_every_field_has_a_name(browser, pages, name):
    open_page(browser, pages(name))
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    fields = {"slider", "spinbutton", "combobox", "checkbox", "searchbox", "button", "link", "image", "img"}
    found = [n for n in nodes if not n["ignored"] and n["role"]["value"] in fields]
    assert len(found) > 20
    assert [n for n in found if not n["name"]["value"].strip()] == []


def test_prediction_is_announced(browser, pages):
    open_page(browser, pages("diabetes"))
    live = find(browser, "#what-if-live")
    assert live.get_attribute("aria-live") == "polite"
    wait_for(browser, lambda: live.get_attribute("textContent").startswith("progression: "))


def wait_for(browser, condition):
    WebDriverWait(browser, 5).until(lambda _: condition())


# -- colors, paper, many columns ---------------------------------------------------------------------------------------


def background(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_colors_follow_the_system_and_the_button(browser, pages):
    for scheme, other in (("dark", "light"), ("light", "dark")):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        open_page(browser, pages("diabetes"))
        ground = {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 23, 26)"}
        assert background(browser) == ground[scheme]
        tab_to(browser, "#theme")
        press(browser, Keys.ENTER)
        assert background(browser) == ground[other]
        assert find(browser, "#theme").get_attribute("aria-pressed") == str(other == "dark").lower()


def test_prints_in_light_colors_and_without_sliders(browser, pages):
    open_page(browser, pages("diabetes"))
    find(browser, "#theme").click()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert background(browser) == "rgb(255, 255, 255)"
    hidden = browser.find_elements(By.CSS_SELECTOR, "input[type=range], nav, #theme, .tools")
    assert hidden
    assert not any(node.is_displayed() for node in hidden)
    assert all(box.is_displayed() for box in browser.find_elements(By.CSS_SELECTOR, "#what-if-controls .head input"))
    paper = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert len(paper["data"]) > 10_000


def test_many_columns_come_on_demand(browser, pages):
    open_page(browser, pages("wide"))
    controls = "#what-if-controls .control"
    assert len(browser.find_elements(By.CSS_SELECTOR, controls)) == 12
    names = [node.text for node in browser.find_elements(By.CSS_SELECTOR, f"{controls} label")]
    assert set(names[:3]) == {"x0", "x1", "x2"}
    find(browser, ".inputs input[type=search]").send_keys("x499")
    assert [node.text for node in browser.find_elements(By.CSS_SELECTOR, f"{controls} label")] == ["x499"]
    find(browser, ".inputs input[type=search]").send_keys(Keys.BACKSPACE * 4)
    find(browser, ".inputs .tools button").click()
    assert len(browser.find_elements(By.CSS_SELECTOR, controls)) == 500


def test_page_stays_quick_with_many_columns(browser, pages):
    open_page(browser, pages("wide"))
    seconds = browser.execute_script("""
        const { panel } = window.takagi;
        const start = performance.now();
        for (let i = 0; i < 10; i++) panel.setCells(panel.cells.map((cell, c) => (c ? cell : i / 10)));
        return (performance.now() - start) / 10_000;
    """)
    assert seconds < 0.5


def test_frame_in_a_notebook_works(browser, pages, tmp_path):
    model, X, y = diabetes()
    report = ModelReport(model, X, y, simplify=False)
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><title>n</title>{report._repr_html_()}", encoding="utf-8")
    assert open_page(browser, path) == []
    browser.switch_to.frame(0)
    assert find(browser, "#what-if-prediction").text
    find(browser, "nav a[href='#rules']").click()
    assert browser.execute_script("return document.activeElement.id") == "rules"
    browser.switch_to.default_content()
