"""Commands on a table whose target is classes."""

import json

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

from takagi.persistence import load

QUICK = ("--droprule", "--rules", "2", "--iterations", "100")


def make_levels():
    """Cars with the class that their price puts them in; two have none."""
    cars = make_cars().drop(columns="plate")
    level = pd.cut(cars["price"], [-np.inf, 20000, 24000, np.inf], labels=["cheap", "fair", "dear"])
    return cars.drop(columns="price").assign(level=level.astype(object))


@pytest.fixture(scope="module")
def classified(tmp_path_factory, one_process):
    """A folder with levels.csv and a model of it, made once."""
    from takagi.cli import main

    folder = tmp_path_factory.mktemp("classified")
    make_levels().to_csv(folder / "levels.csv", index=False)
    words = ["fit", f"{folder}/levels.csv", "-t", "level", "-o", f"{folder}/levels.takagi", *QUICK, "--quiet"]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert not ended.value.code
    return folder


@pytest.fixture
def levels(classified, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for path in classified.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.mark.slow
def test_text_is_classified_and_scored_beside_others(call, levels):
    code, out, err = call("fit", "levels.csv", "-t", "level", "-o", "new.takagi", *QUICK)
    sizes = make_levels()["level"].value_counts()
    shown = ", ".join(f"{label} ({n})" for label, n in sizes.items())
    assert (code, f"Target level: 3 classes: {shown}; 2 rows without it left out" in out) == (0, True)
    lines = [line.rstrip() for line in out.splitlines()]
    start = next(k for k, line in enumerate(lines) if line.startswith("Score by"))
    assert lines[start].split()[-6:] == ["log", "loss", "90", "%", "interval", "Accuracy"]
    ways = [line.split("  ")[0] for line in lines[start + 1 : start + 5]]
    assert ways == ["takagi, 2 rules", "logistic regression", "boosted trees", "the class frequencies"]
    assert "logistic regression" in lines[start + 5]
    assert "takagi simplify new.takagi levels.csv -o small.takagi" in out
    assert "Training 2 rules on all 198 rows" in err
    model = load("new.takagi")[-1]
    assert (model.classes_.tolist(), model.scores_.measure) == (["cheap", "dear", "fair"], "log loss")


@pytest.mark.slow
def test_short_rules_are_the_default_and_compared_with_the_accurate_model(call, levels):
    words = ("fit", "levels.csv", "-t", "level", "-o", "new.takagi", "--iterations", "20")
    code, out, _ = call(*words, "--rules", "2", "--terms", "2", "--json")
    told = json.loads(out)
    assert (code, told["settings"]["recipe"], told["settings"]["task"]) == (0, "short", "classification")
    assert told["score"]["scores"][1]["who"] == "the accurate model"
    assert load("new.takagi")[-1].recipe_ == "short"


def test_a_committee_of_classifiers_is_fitted_and_used(call, levels):
    words = ("fit", "levels.csv", "-t", "level", "-o", "new.takagi", "--committee", "--iterations", "20")
    assert call(*words, "--rules", "2", "--no-score")[0] == 0
    assert len(load("new.takagi")[-1].estimators_) == 8
    drawing = ("plot", "new.takagi", "importance", "levels.csv", "-o", "i.svg")
    code, out, _ = call("explain", "new.takagi", "levels.csv", "--row", 3)
    assert (code, "\n  disagreement " in out, "Members, without disagreement" in out) == (0, True, True)
    assert call(*drawing)[0] == 0
    assert call("explain", "new.takagi", "levels.csv", "--member", "2")[0] == 0
    code, _, err = call("plot", "new.takagi", "grid", "levels.csv", "-o", "g.svg")
    assert (code, "the model is a committee" in err) == (2, True)
    code, out, _ = call("predict", "new.takagi", "levels.csv", "--proba", "--quiet")
    assert (code, out.split("\n")[0]) == (
        0,
        "predicted_level,probability_cheap,probability_dear,probability_fair",
    )


@pytest.mark.parametrize(("task", "kind"), [("regression", "TSKRegressor"), ("classification", "TSKClassifier")])
def test_the_task_decides_what_two_numbers_are(call, levels, task, kind):
    pd.DataFrame({"a": np.arange(40) % 7, "y": np.arange(40) % 2}).to_csv("two.csv", index=False)
    options = ("-t", "y", "-o", "two.takagi", *QUICK, "--no-score", "--force")
    assert call("fit", "two.csv", *options, "--task", task)[0] == 0
    assert type(load("two.takagi")[-1]).__name__ == kind
    assert call("fit", "two.csv", *options)[0] == 0
    assert load("two.takagi")[-1].classes_.tolist() == [0, 1]


def test_predictions_are_labels_with_probabilities_on_request(call, levels):
    code, out, _ = call("predict", "levels.takagi", "levels.csv", "--quiet")
    model, table = load("levels.takagi"), make_levels()
    assert (code, out.splitlines()[0]) == (0, "predicted_level")
    assert out.splitlines()[1:] == model.predict(table).tolist()
    assert call("predict", "levels.takagi", "levels.csv", "--proba", "--keep", "fuel", "-o", "out.csv")[0] == 0
    written = pd.read_csv("out.csv")
    chances = [f"probability_{label}" for label in ("cheap", "dear", "fair")]
    assert list(written) == ["fuel", "predicted_level", *chances]
    np.testing.assert_allclose(written[chances], model.predict_proba(table))


def test_reading_a_model_of_classes(call, levels):
    assert "log-odds" in call("rules", "levels.takagi")[1] or "score of" in call("rules", "levels.takagi")[1]
    code, out, _ = call("explain", "levels.takagi", "levels.csv", "--row", "4", "--json")
    chances = load("levels.takagi").predict_proba(make_levels().iloc[[4]])[0]
    assert code == 0
    np.testing.assert_allclose([one["probability"] for one in json.loads(out)], chances)
    code, out, err = call("report", "levels.takagi", "levels.csv", "-o", "page.html", "--json")
    assert (code, json.loads(out)["kept"]["measure"], json.loads(out)["kept"]["seen"]) == (0, "log loss", 1)
    assert "2 rows without level left out" in err
    for kind in ("json", "c"):
        assert call("export", "levels.takagi", "--to", kind)[0] == 0


def test_two_models_are_compared_by_log_loss(call, levels):
    words = (
        "fit",
        "levels.csv",
        "-t",
        "level",
        "-o",
        "other.takagi",
        "--droprule",
        "--rules",
        "1",
        "--iterations",
        "5",
    )
    assert call(*words, "--no-score")[0] == 0
    code, out, err = call("compare", "levels.takagi", "other.takagi", "levels.csv", "--json")
    told = json.loads(out)
    assert (code, told["measure"]) == (0, "log loss")
    assert [score["who"] for score in told["scores"]][2] == "the class frequencies of these rows"
    assert told["trained_on"] == {"levels.takagi": 1.0, "other.takagi": 1.0}
    assert "2 rows without level left out" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--intervals",), "--intervals is for a target of numbers; classes have probabilities. Leave it out."),
        (("--task", "regression"), "must be numbers, got 'cheap'"),
    ],
)
def test_what_classes_do_not_have_is_refused_in_a_line(call, levels, words, message):
    code, _, err = call("fit", "levels.csv", "-t", "level", "-o", "new.takagi", *words)
    assert code
    assert message in err.splitlines()[-1]
    assert not (levels / "new.takagi").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["same"] * 400, "the target 'y' is 'same' in every row: there is nothing to learn."),
        ([f"k{k % 200}" for k in range(400)], "200 different values in 400 rows, too many for classes"),
        (
            np.linspace(0, 1, 400),
            "400 different numbers in 400 rows, too many for classes: at most 100 are told apart,",
        ),
    ],
)
def test_targets_that_are_no_classes_are_refused_with_what_to_do(call, levels, values, message):
    pd.DataFrame({"a": np.arange(400) % 7, "y": values}).to_csv("odd.csv", index=False)
    code, _, err = call("fit", "odd.csv", "-t", "y", "-o", "new.takagi", "--task", "classification")
    assert code
    assert err.startswith("Error: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_class_of_one_row_is_learned_and_not_scored(call, levels):
    table = make_levels()
    table.loc[0, "level"] = "odd"
    table.to_csv("single.csv", index=False)
    code, out, err = call("fit", "single.csv", "-t", "level", "-o", "new.takagi", *QUICK, "--json")
    assert (code, "1 class of one row, which no score can test: 'odd'." in err) == (0, True)
    assert json.loads(out)["score"]["scores"][0]["error"] < 2
    assert "odd" in load("new.takagi")[-1].classes_


@pytest.mark.slow
def test_models_of_the_other_kind_are_refused_in_a_line(call, levels, scratch):
    (scratch / "levels.takagi").write_bytes((levels / "levels.takagi").read_bytes())
    make_levels().to_csv("levels.csv", index=False)
    for words, message in [
        (("predict", "cars.takagi", "cars.csv", "--proba"), "the model predicts numbers, which have no probabilities."),
        (("predict", "levels.takagi", "levels.csv", "--interval", "0.9"), "classes, which have probabilities and no"),
    ]:
        code, _, err = call(*words)
        assert (code, message in err.splitlines()[-1]) == (2, True)
    make_cars().assign(level=make_levels()["level"]).to_csv("both.csv", index=False)
    code, _, err = call("compare", "cars.takagi", "levels.takagi", "both.csv")
    assert (code, "both must predict numbers, or the same classes" in err) == (2, True)


def test_a_label_that_training_did_not_have_is_named_with_its_row(call, levels):
    table = make_levels()
    table.loc[5, "level"] = "cheep"
    table.to_csv("new.csv", index=False)
    (levels / "copy.takagi").write_bytes((levels / "levels.takagi").read_bytes())
    code, _, err = call("compare", "levels.takagi", "copy.takagi", "new.csv")
    message = "'cheep' in row 5 of 'level' is none of the model's classes, 'cheap', 'dear', 'fair'."
    assert (code, message in err) == (1, True)


def test_settings_are_searched_by_log_loss(call, levels):
    code, out, _ = call("fit", "levels.csv", "-t", "level", "-o", "new.takagi", "--tune", *QUICK)
    assert code == 0
    assert ", log loss 0." in out[out.index("Chosen: ") :]


def test_a_classifier_is_made_smaller_and_told_in_log_loss(call, levels):
    code, out, err = call("simplify", "levels.takagi", "levels.csv", "-o", "small.takagi", "--rules", 2, "--terms", 1)
    assert (code, "2 rules, " in out, "\nlog loss " in out, "RMSE" in out) == (0, True, True, False)
    assert "2 rows without level left out" in err
    small = load("small.takagi")
    assert set(small.predict(make_levels().drop(columns="level"))) <= {"cheap", "dear", "fair"}
    assert small[-1].model_.n_rules <= 2
