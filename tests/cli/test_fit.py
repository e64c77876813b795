import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_cars import FIT, make_cars
from sklearn.base import clone

from takagi.inspection import measure_size
from takagi.persistence import load

TARGET = ("--target", "price")


def write(path, columns, n_rows=30):
    pd.DataFrame({name: [value(k) for k in range(n_rows)] for name, value in columns.items()}).to_csv(path, index=False)
    return path


def test_fit_says_what_it_understood_scores_reads_out_and_writes(call, scratch, listing):
    code, out, err = call("fit", "cars.csv", *TARGET, "-o", "new.takagi", *FIT)
    assert (code, listing()) == (0, ["new.takagi"])
    lines = [line.rstrip() for line in out.splitlines()]
    assert max(map(len, lines)) <= 80
    assert lines[0] == "cars.csv: 200 rows, 8 columns (comma-separated, UTF-8)"
    cars = make_cars().dropna(subset="price")
    assert [line.split()[:3] for line in lines[3:10]] == [
        ["plate", "left", "out"],
        ["weight", "number", f"{cars['weight'].min():.0f}"],
        ["power", "number", f"{cars['power'].min():g}"],
        ["fuel", "category", "3:"],
        ["sold", "boolean", "true"],
        ["first", "seen", "left"],
        ["wheels", "left", "out"],
    ]
    assert "Target price: " in out
    assert "; 2 rows without it left out" in out
    start = next(k for k, line in enumerate(lines) if line.startswith("Score by"))
    assert lines[start].split("  ")[0] == "Score by 10-fold cross-validation"
    ways = [line.split("  ")[0] for line in lines[start + 1 : start + 5]]
    assert ways == ["takagi, 3 rules", "ridge regression", "boosted trees", "always the mean"]
    assert lines[start + 5].startswith(("Better than ridge", "Worse than ridge", "About as good as ridge"))
    assert out.count("\n  THEN price = ") == 3
    assert "  takagi explain new.takagi cars.csv --row 0" in lines
    lines = [line for line in err.splitlines() if not line.endswith("fits")]
    assert lines == ["Scoring: 10-fold cross-validation", "Training 3 rules on all 198 rows"]


def test_the_written_model_is_trained_on_all_rows_that_have_a_target(scratch):
    rules = load("cars.takagi")[-1].rule_base_
    assert (rules.n_rules, rules.output_names) == (3, ("price",))
    cars = make_cars().dropna(subset="price")
    model = load("cars.takagi")
    assert [column.name for column in model[0].columns_] == ["weight", "power", "fuel", "sold"]
    again = clone(model).fit(cars[["weight", "power", "fuel", "sold"]], cars["price"])
    np.testing.assert_array_equal(again.predict(cars), model.predict(cars))


def test_findings_are_printed_with_an_option_that_helps(call, scratch):
    cars = make_cars().dropna(subset="price").assign(tax=lambda table: 0.1 * table["price"], number=range(198))
    cars.to_csv("odd.csv", index=False)
    code, out, _ = call("fit", "odd.csv", *TARGET, "-o", "new.takagi", *FIT)
    start = out.index("Look at this first; nothing was changed:")
    assert (code, out[start:].splitlines()[1:5]) == (
        0,
        [
            "- leak tax: it alone explains 99.99 % of the target's variance. To leave it out:",
            "  --drop tax",
            "- row number number: 0 to 197 in the order of the rows. To leave it out: --drop",
            "  number",
        ],
    )
    _, out, _ = call("fit", "odd.csv", *TARGET, "-o", "new.takagi", "--force", *FIT, "--json", "--drop", "tax")
    assert [finding["kind"] for finding in json.loads(out)["findings"]] == ["row number"]


def test_columns_are_read_as_options_say(call, scratch):
    rows = [f"{10000 + 977 * (k % 6)},${k}.50,{k % 28 + 1}/{k % 12 + 1}/2024,{k % 9 - k % 4}\n" for k in range(90)]
    (scratch / "shops.csv").write_text("zip,cost,day,price\n" + "".join(rows))
    code, out, _ = call("fit", "shops.csv", *TARGET, "-o", "new.takagi", *FIT, "--category", "zip", "--date", "day")
    lines = [" ".join(line.split()) for line in out.splitlines()[3:6]]
    assert (code, lines) == (
        0,
        [
            "zip category 6: 10000, 10977, 11954, 12931, 13908, 14885",
            "cost number 0.5 to 89.5 ($)",
            "day date days since 2024-01-01, month, weekday",
        ],
    )
    code, out, _ = call("predict", "new.takagi", "shops.csv", "-q")
    assert (code, len(out.splitlines())) == (0, 91)
    code, _, err = call("fit", "shops.csv", *TARGET, "-o", "other.takagi", *FIT, "--number", "day")
    assert (code, "Error: column 'day' is to be read as numbers, but row 0 has '1/1/2024'" in err) == (1, True)


def test_json_is_all_of_the_output(call, scratch):
    code, out, _ = call("fit", "cars.csv", *TARGET, "-o", "new.takagi", *FIT, "--json")
    summary = json.loads(out)
    assert code == 0
    assert (summary["model"], summary["target"]) == ("new.takagi", "price")
    assert (summary["n_rows"], summary["n_rows_without_target"]) == (198, 2)
    assert [c["name"] for c in summary["columns"] if c["read_as"] == "left out"] == ["plate", "first seen", "wheels"]
    settings = {
        "extrapolation": "hold",
        "max_levels": 20,
        "n_rules": 3,
        "recipe": "droprule",
        "keep_prob": "auto",
        "max_iter": 300,
        "random_state": 0,
        "committee": False,
        "max_conditions": None,
        "max_terms": None,
        "task": "regression",
    }
    assert summary["settings"] == settings
    sheet = summary["score"]
    ways = [score["who"] for score in sheet["scores"]]
    assert ways == ["takagi, 3 rules", "ridge regression", "boosted trees", "always the mean"]
    mean = sheet["scores"][-1]
    assert mean["error"] > 1000 > abs(mean["second"])
    assert (sheet["n_rows"], sheet["measure"], sheet["second"]) == (198, "RMSE", "R2")
    assert sheet["verdict"]
    assert [rule["rule"] for rule in summary["rules"]] == [1, 2, 3]


@pytest.mark.slow
def test_quiet_is_silent_and_seeds_repeat(call, scratch):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        code, out, err = call("fit", "cars.csv", *TARGET, "-o", f"{name}.takagi", *FIT, "--seed", seed, "-q")
        assert (code, out, err) == (0, "", "")
    content = {name: (scratch / f"{name}.takagi").read_bytes() for name in "abc"}
    assert content["a"] == content["b"] != content["c"]


def test_a_model_may_be_trained_without_a_score(call, scratch):
    code, out, err = call("fit", "cars.csv", *TARGET, "-o", "new.takagi", *FIT, "--no-score")
    assert (code, "RMSE" in out) == (0, False)
    assert err == "Training 3 rules on all 198 rows\n"


def test_columns_can_be_left_out_by_name_and_pattern(call, scratch):
    code, *_ = call("fit", "cars.csv", *TARGET, "-o", "new.takagi", *FIT, "--drop", "power", "--drop", "s*", "-q")
    assert (code, list(load("new.takagi")[0].feature_names_in_)) == (0, ["weight", "fuel"])


@pytest.mark.slow
def test_tune_shows_a_table_and_takes_the_simplest_of_the_best(call, scratch):
    words = ("fit", "cars.csv", *TARGET, "-o", "new.takagi", "--tune", "--iterations", 60)
    code, out, _ = call(*words, "--rules", 2, "--json")
    summary = json.loads(out)
    assert code == 0
    errors = [one["error"] for one in summary["search"]]
    assert errors == sorted(errors)
    assert {(one["recipe"], one["keep_prob"]) for one in summary["search"]} == {
        ("short", "auto"),
        ("accurate", "auto"),
        *(("droprule", keep_prob) for keep_prob in (0.6, 0.8, 0.9)),
    }
    assert {(one["n_rules"], one["max_iter"]) for one in summary["search"]} == {(2, 60)}
    best = summary["search"][0]
    chosen = next(one for one in summary["search"] if one["recipe"] == summary["settings"]["recipe"])
    assert chosen["error"] <= best["error"] + best["standard_error"]
    assert load("new.takagi")[-1].recipe == summary["settings"]["recipe"]
    code, out, err = call(*words, "--force")
    table = out[out.index("Recipe") : out.index("Chosen: ")].splitlines()
    assert max(len(line.rstrip()) for line in table) <= 80
    settings = [line.split()[:2] for line in table if line.startswith(("accurate", "droprule", "short"))]
    assert len(settings) == 17
    assert {rules for _, rules in settings} == {"auto", "4", "8", "16", "32", "64"}
    assert "Trying 17 settings on 5 folds" in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.csv is empty."),
        ("x,price\n", "t.csv has names but no rows."),
        ("x,price\n1,2\n3,4\n", "t.csv has 2 rows with a target; training takes 10 at least."),
        ("price\n" + "1\n2\n" * 10, "t.csv has the single column 'price'; training takes a target and at least"),
        ("x~price\n" + "1~2\n" * 20, "t.csv has the single column 'x~price'; training takes a target and at least one"),
        ("x,z,price\n" + "1,a,3\n1,a,4\n" * 9, "t.csv has no column to learn 'price' from ('x': always 1, 'z': always"),
        ("x,price\n" + "1,2\n2,2\n" * 9, "the target 'price' is 2 in every row: there is nothing to learn."),
        ("x,price\n" + "1,2\n2,lots\n" * 9, "the target 'price' must be numbers, got 'lots' (first in row 1)."),
        ("x,x,price\n" + "1,2,3\n" * 9, "t.csv has several columns named 'x'. Rename or remove all but one."),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_learned_from_say_why(call, scratch, content, message, listing):
    (scratch / "t.csv").write_text(content)
    code, out, err = call("fit", "t.csv", *TARGET, "-o", "new.takagi", *FIT)
    assert (code, out, listing()) == (1, "", ["t.csv"])
    assert err.startswith(f"Error: {message}")
    assert err.count("\n") <= 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("cars.cvs", *TARGET, "-o", "n.takagi"), "there is no file cars.cvs. Did you mean cars.csv?"),
        (("cars.csv", "-t", "prise", "-o", "n.takagi"), "cars.csv has no column 'prise'. Did you mean 'price'?"),
        (("cars.csv", *TARGET, "-o", "cars.takagi"), "cars.takagi exists; pass --force to replace it"),
        (("cars.csv", *TARGET, "-o", "no/n.takagi"), "there is no folder no; make it first."),
        (("cars.csv", *TARGET, "-o", "/dev/null", "--force"), "/dev/null is not a regular file"),
        (("cars.csv", *TARGET, "-o", ".", "--force"), ". is not a regular file"),
        (("cars.csv", *TARGET, "-o", "n.takagi", "--drop", "wieght"), "cars.csv has no column 'wieght'. Did you mean"),
        (("cars.csv", *TARGET, "-o", "n.takagi", "--drop", "price"), "'price' is the target and cannot be left out."),
        (
            ("cars.csv", *TARGET, "-o", "n.takagi", "--drop", "*"),
            "no column is left to learn 'price' from. See",
        ),
        (
            ("cars.csv", *TARGET, "-o", "n.takagi", "--names", "a,b"),
            "cars.csv has 8 columns, but the number",
        ),
        (("cars.csv", *TARGET, "-o", "n.takagi", "--rules", 0), "Invalid value for '--rules'"),
        (
            ("cars.csv", *TARGET, "-o", "n.takagi", "--group", "feul"),
            "cars.csv has no column 'feul'. Did you mean 'fuel'",
        ),
        (("cars.csv", *TARGET, "-o", "n.takagi", "--group", "wheels"), "all rows are of one group of 'wheels', but a"),
        (("cars.csv", *TARGET, "-o", "n.takagi", "--time", "fuel"), "'fuel' holds text, such as"),
        (("cars.csv", *TARGET, "-o", "n.takagi", "--time", "power"), "'power' gives no time in"),
        (("cars.csv", *TARGET, "-o", "n.takagi", "--time", "price"), "'price' is the target; another column is needed"),
        (("cars.csv", *TARGET, "-o", "n.takagi", "--accurate", "--terms", 2), "--conditions and --terms are limits of"),
    ],
)
def test_misuse_is_exit_code_two_and_says_what_to_do(call, scratch, words, message, listing):
    before = (scratch / "cars.takagi").read_bytes()
    code, out, err = call("fit", *words)
    assert (code, out, listing()) == (2, "", [])
    assert err.startswith(f"Error: {message}")
    assert (scratch / "cars.takagi").read_bytes() == before


@pytest.mark.parametrize(("more", "is_noted"), [((), True), (("--drop", "weight"), False)])
def test_a_time_that_is_learned_from_is_noted(call, scratch, more, is_noted):
    words = ("cars.csv", *TARGET, "-o", "n.takagi", "--time", "weight", "--no-score", *more)
    code, _, err = call("fit", *words)
    said = "Note: the model learns from 'weight', too, and later rows lie beyond what it has seen of it. "
    assert (code, f"{said}To learn nothing from it: --drop weight" in err) == (0, is_noted)


@pytest.mark.slow
def test_very_many_columns_are_refused_at_once_and_can_be_left_out(call, scratch):
    n_columns = 100_000
    rows = (",".join([*map(str, np.arange(n_columns) + k), str(k % 7)]) for k in range(12))
    (scratch / "wide.csv").write_text("\n".join([",".join([*(f"x{k}" for k in range(n_columns)), "price"]), *rows]))
    code, _, err = call("fit", "wide.csv", *TARGET, "-o", "new.takagi", *FIT)
    assert code == 1
    assert err.startswith("Error: wide.csv has 100,000 columns to learn from; rules take at most 5,000. Leave some out")
    drops = [word for length in (3, 4, 5) for word in ("--drop", "x" + "?" * length)]
    code, out, _ = call("fit", "wide.csv", *TARGET, "-o", "new.takagi", *FIT, *drops)
    assert (code, len(load("new.takagi")[0].columns_)) == (0, 100)
    assert "... and 80 more columns" in out
    code, out, _ = call("predict", "new.takagi", "wide.csv")
    assert (code, len(out.splitlines())) == (0, 13)


def test_names_of_all_sorts_stay_in_their_lines(call, scratch, monkeypatch):
    names = ["a" * 90, "👩‍🚗 owner", "مالك السيارة", "[bold]x[/bold]", "line\nbreak"]
    columns = {name: (lambda k, j=j: (k * (j + 3)) % 17) for j, name in enumerate(names)}
    write(scratch / "odd.csv", {**columns, "price": lambda k: k % 11})
    for width in (80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        code, out, _ = call("fit", "odd.csv", *TARGET, "-o", "new.takagi", *FIT, "--force")
        assert code == 0
        table = out.splitlines()[2:8]
        assert all("number" in line for line in table[1:])
        assert "[bold]x[/bold]" in table[4]
    code, out, _ = call("explain", "new.takagi", "odd.csv")
    assert code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "cars.csv", "-t", "price", "-o", "cars.csv"),
        ("predict", "cars.takagi", "cars.csv", "-o", "cars.csv"),
        ("simplify", "cars.takagi", "cars.csv", "-o", "cars.csv"),
        ("export", "cars.takagi", "--to", "json", "-o", "cars.takagi"),
    ],
)
def test_what_a_command_reads_is_never_replaced(call, scratch, words):
    before = [(scratch / name).read_bytes() for name in ("cars.csv", "cars.takagi")]
    code, _, err = call(*words, "--force")
    assert code == 2
    assert "is read by this command; choose another name" in err
    assert [(scratch / name).read_bytes() for name in ("cars.csv", "cars.takagi")] == before


@pytest.mark.parametrize("words", [("fit", "cars.csv", "-t", "price"), ("export", "cars.takagi", "--to", "c")])
def test_a_dash_is_no_file(call, scratch, listing, words):
    code, _, err = call(*words, "-o", "-")
    assert (code, listing()) == (2, [])
    assert "the output must be a file" in err


def test_the_accurate_model_is_the_librarys_default(call, scratch):
    code, out, err = call(
        "fit", "cars.csv", *TARGET, "-o", "new.takagi", "--accurate", "--iterations", 60, "--no-score"
    )
    assert code == 0
    assert "Training rules on all 198 rows" in err
    model = load("new.takagi")[-1]
    assert (model.n_rules, model.keep_prob_, model.n_rules_) == (None, 1.0, 1)
    assert "IF anything" in out  # these prices are a straight line
    call(
        "fit", "cars.csv", *TARGET, "-o", "many.takagi", "--rules", "40", "--iterations", 5, "--droprule", "--no-score"
    )[1].index("40 rules; to print")


@pytest.mark.parametrize("word", ["0", "-3", "few", "1.5"])
def test_wrong_numbers_of_rules_are_refused(call, scratch, word):
    code, _, err = call("fit", "cars.csv", *TARGET, "-o", "new.takagi", "--rules", word)
    assert code == 2
    assert "a number from 1 on or the word auto is needed" in " ".join(err.split())


@pytest.mark.slow
def test_a_committee_is_fitted_and_used(call, scratch):
    code, out, err = call("fit", "cars.csv", *TARGET, "-o", "new.takagi", "--committee", "--iterations", 60)
    assert code == 0
    assert "Training a committee on all 198 rows" in err
    assert "takagi, 8 rules in 8 members" in out
    assert "takagi simplify new.takagi cars.csv -o small.takagi --member 1" in out
    model = load("new.takagi")
    assert (len(model[-1].estimators_), model[-1].estimator.n_rules) == (8, None)
    code, _, _ = call("predict", "new.takagi", "cars.csv", "-o", "p.csv")
    assert code == 0
    np.testing.assert_allclose(pd.read_csv("p.csv").iloc[:, -1], model.predict(pd.read_csv("cars.csv")), rtol=1e-6)
    assert call("report", "new.takagi", "cars.csv", "-o", "all.html")[0] == 0
    assert "A committee of 8 models predicts" in Path("all.html").read_text()
    assert call("report", "new.takagi", "cars.csv", "-o", "one.html", "--member", 8)[0] == 0
    assert "1 rule predicts" in Path("one.html").read_text()
    for words in (
        ("simplify", "new.takagi", "cars.csv", "-o", "s.takagi"),
        ("export", "new.takagi", "-o", "m.json"),
        ("plot", "new.takagi", "grid", "cars.csv", "-o", "g.png"),
    ):
        code, _, err = call(*words)
        assert (code, err.splitlines()[-1]) == (
            2,
            "Error: the model is a committee, and this takes one set of rules; name a member, 1 to 8. See --member.",
        )
        assert call(*words, "--member", 8)[0] == 0
    code, out, _ = call("rules", "new.takagi", "--member", 2)
    assert (code, out.count("THEN")) == (0, 1)
    assert "has no member 9" in call("rules", "new.takagi", "--member", 9)[2]
    assert "is no committee" in call("rules", "cars.takagi", "--member", 1)[2]


def test_a_committee_tells_that_it_holds_rows(call, scratch):
    rng = np.random.default_rng(0)
    day = rng.integers(20, size=300)
    dust = rng.normal(size=20)[day] + 0.1 * rng.normal(size=300)
    pd.DataFrame({"day": day, "wind": rng.normal(size=300), "dust": dust}).to_csv("air.csv", index=False)
    words = (
        "fit",
        "air.csv",
        "-t",
        "dust",
        "-o",
        "air.takagi",
        "--committee",
        "--rules",
        5,
        "--iterations",
        60,
        "--no-score",
    )
    code, out, _ = call(*words)
    assert code == 0
    assert (
        "40 rules in 8 members; to print them: takagi rules air.takagi\nThe model holds 300 rows of the table." in out
    )


def test_a_committee_is_not_tuned(call, scratch, listing):
    code, _, err = call("fit", "cars.csv", *TARGET, "-o", "new.takagi", "--committee", "--tune")
    assert (code, listing()) == (2, [])
    assert "--committee and --tune do not go together" in err


def test_short_rules_are_fitted_and_obey_their_limits(call, scratch):
    code, out, err = call("fit", "cars.csv", *TARGET, "-o", "short.takagi", "--rules", 3, "--terms", 2, "--no-score")
    assert code == 0, err
    model = load("short.takagi")[-1]
    assert model.recipe_ == "short"
    size = measure_size(load("short.takagi"))
    assert size.n_rules <= 3
    assert size.max_terms <= 2
    assert "Rule 1" in out


@pytest.mark.parametrize("committee", [[], ["--committee"]])
def test_formulas_go_on_beyond_the_data_if_asked(call, scratch, committee):
    options = ["--rules", "2", "--iterations", "20", "--no-score", "--accurate", *committee]
    for words, has_limits in (([], True), (["--extrapolation", "linear"], False)):
        code, *_ = call("fit", "cars.csv", *TARGET, "-o", "new.takagi", *options, *words, "--force", "--quiet")
        last = load("new.takagi")[-1]
        members = getattr(last, "estimators_", [last])
        assert code == 0
        assert all((member.model_.limits is not None) == has_limits for member in members)
    code, _, err = call("fit", "cars.csv", *TARGET, "-o", "new.takagi", "--extrapolation", "held")
    assert code == 2
    assert "'hold', 'linear'" in err
