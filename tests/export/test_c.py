import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from exported import (
    ODD_NAMES,
    bend_table,
    error_of,
    example_models,
    example_rows,
    example_rules,
    example_sums,
    new_table,
)

from cases import make_part, make_sum
from takagi import Bend, RuleBase, RuleModel
from takagi.export import to_c

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wdouble-promotion", "-Wshadow"]
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
RULES = sorted(example_rules())
SUMS = sorted(example_sums())
TOLERANCE = {"double": 1e-13, "float": 1e-5}
SUM_TOLERANCE = {"double": 1e-13, "float": 3e-5}  # some rows are 60 of the narrower widths away

pytestmark = pytest.mark.skipif(not COMPILERS, reason="needs a C compiler, gcc or clang")


def compile_c(source, target, compiler=None, flags=("-O1",)):
    compiler = compiler or COMPILERS[0]
    command = [compiler, "-std=c99", *STRICT, *flags, "-o", str(target), *map(str, source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


MAIN = """
#define %(NAME)s_DECLARATIONS_ONLY
#include "rules.c"
#include <stdio.h>
int main(void)
{
    %(real)s x[%(NAME)s_N_COLUMNS], y[%(NAME)s_N_OUTPUTS];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        %(name)s_predict(x, y);
        fwrite(y, sizeof y, 1, stdout);
    }
    return 0;
}
"""


class Compiled:
    """A program around the function of a C file, that takes rows from its input and writes predictions."""

    def __init__(self, text, folder, dtype="double", name="takagi", **how):
        (folder / "rules.c").write_text(text)
        (folder / "main.c").write_text(MAIN % {"name": name, "NAME": name.upper(), "real": dtype})
        self.program = folder / "program"
        compile_c([folder / "rules.c", folder / "main.c"], self.program, **how)
        self.dtype = np.dtype({"double": "float64", "float": "float32"}[dtype])

    def predict(self, X):
        rows = np.ascontiguousarray(X, dtype=self.dtype)
        done = subprocess.run([self.program], input=rows.tobytes(), capture_output=True, check=True)
        return np.frombuffer(done.stdout, dtype=self.dtype).reshape(len(rows), -1)


def code_table(table, columns):
    """Return one number for each column, as the file's comment says: a category is the index of its level."""
    coded = np.full((len(table), len(columns)), np.nan)
    for k, column in enumerate(columns):
        values = table[column.name]
        if column.kind == "category":
            index = {level: i for i, level in enumerate(column.levels)}
            coded[:, k] = [np.nan if pd.isna(value) else index.get(value, -1) for value in values]
        else:
            coded[:, k] = values.astype(float)
    return coded


@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("name", RULES)
def test_c_predicts_as_the_rules_do(name, dtype, tmp_path):
    rules = example_rules()[name]
    compiled = Compiled(to_c(rules, dtype=dtype), tmp_path, dtype)
    X = example_rows(rules).astype(compiled.dtype)
    assert error_of(compiled.predict(X), rules, X.astype(float)) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("name", SUMS)
def test_c_adds_up_parts_and_bends(name, dtype, tmp_path):
    model = example_sums()[name]
    compiled = Compiled(to_c(model, dtype=dtype), tmp_path, dtype)
    X = example_rows(model).astype(compiled.dtype)
    assert error_of(compiled.predict(X), model, X.astype(float)) < SUM_TOLERANCE[dtype]


@pytest.mark.parametrize("seed", range(12))
def test_c_predicts_as_random_sums_do(seed, tmp_path):
    rng = np.random.default_rng(seed)
    n_outputs = 1 + seed % 3
    link = ("identity", "logit" if n_outputs == 1 else "softmax")[seed % 2]
    model = make_sum(rng, n_parts=1 + seed // 4, n_outputs=n_outputs, link=link)
    X = rng.normal(size=(200, model.n_features))
    found = Compiled(to_c(model), tmp_path).predict(X)
    np.testing.assert_allclose(found, model.predict(X).reshape(len(X), -1), rtol=1e-12, atol=1e-12)


def test_digits_of_a_logarithm_near_its_pole_are_kept(tmp_path):
    """Features are taken relative to a point amid the data, but not those of bends."""
    part = make_part(np.random.default_rng(0), [0], n_features=1, bends=[Bend(0, "log", 0.0, floor=1e-12)])
    model = RuleModel((part,)).rescale(np.array([1e-9]), np.ones(1), np.zeros(1), np.ones(1))
    X = np.geomspace(1e-9, 1.0, 50)[:, None]
    np.testing.assert_allclose(Compiled(to_c(model), tmp_path).predict(X)[:, 0], model.predict(X), rtol=1e-13)


@pytest.mark.parametrize("flags", [["-O0"], ["-O3", "-march=native"], ["-O2", "-ffast-math"]], ids=" ".join)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.filterwarnings("ignore:Column 'fuel' has:UserWarning", "ignore::takagi.ExtrapolationWarning")
def test_a_table_is_encoded_inside(compiler, flags, dtype, tmp_path):
    model, table = example_models()["table"], new_table()
    compiled = Compiled(to_c(model, dtype=dtype), tmp_path, dtype, compiler=compiler, flags=flags)
    coded = code_table(table, model[0].columns_)
    assert np.isnan(coded).any()
    assert (coded == -1).any()
    tolerance = {"double": 1e-12, "float": 2e-5}[dtype]
    np.testing.assert_allclose(compiled.predict(coded)[:, 0], model.predict(table), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("index", [-1, -1e30, 5, 1e30, np.inf, -0.6])
def test_an_index_out_of_range_is_none_of_the_levels(index, tmp_path):
    model = example_models()["table"]
    table = new_table().head(3)
    coded = code_table(table, model[0].columns_)
    compiled = Compiled(to_c(model), tmp_path)
    expected = coded.copy()
    expected[:, 1], coded[:, 1] = -1, index
    np.testing.assert_array_equal(compiled.predict(coded), compiled.predict(expected))


@pytest.mark.filterwarnings("ignore::takagi.ExtrapolationWarning")
@pytest.mark.parametrize("name", ["scalers", "two targets"])
def test_scalers_are_part_of_the_rules(name, tmp_path):
    model, table = example_models()[name], new_table()[["year", "sold"]].fillna(0).astype(float)
    prediction = Compiled(to_c(model), tmp_path).predict(table)
    np.testing.assert_allclose(
        prediction.reshape(model.predict(table).shape), model.predict(table), rtol=1e-11, atol=1e-12
    )


def test_a_number_that_is_none_gives_none_where_nothing_replaces_it(tmp_path):
    assert np.isnan(Compiled(to_c(example_rules()["plain"]), tmp_path).predict(np.full((1, 3), np.nan))).all()


@pytest.mark.parametrize("dtype", ["double", "float"])
def test_inputs_near_the_end_of_the_range_give_finite_predictions(dtype, tmp_path):
    rules = example_rules()["plain"]
    compiled = Compiled(to_c(rules, dtype=dtype), tmp_path, dtype)
    X = np.full((1, rules.n_features), 0.01 * np.finfo(compiled.dtype).max ** 0.9, dtype=compiled.dtype)
    assert np.isfinite(compiled.predict(X)).all()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_other_files_include_its_declarations(compiler, tmp_path):
    model = example_models()["table"]
    to_c(model, tmp_path / "cars.c", name="cars")
    (tmp_path / "main.c").write_text(
        "#define CARS_DECLARATIONS_ONLY\n"
        '#include "cars.c"\n'
        "#undef CARS_DECLARATIONS_ONLY\n"
        '#include "cars.c"\n'
        "#include <stdio.h>\n"
        "int main(void) {\n"
        "    double x[CARS_N_COLUMNS] = {0}, y[CARS_N_OUTPUTS];\n"
        "    x[CARS_AGE] = 40; x[CARS_FUEL] = CARS_FUEL_DIESEL; x[CARS_SOLD] = 1; x[CARS_YEAR] = 2000;\n"
        "    x[CARS_Y] = CARS_Y_B; x[CARS_CHECKED] = 0;\n"
        "    cars_predict(x, y);\n"
        '    return printf("%.17g", y[CARS_PRICE]) < 0;\n'
        "}\n"
    )
    (tmp_path / "user.c").write_text('#define CARS_DECLARATIONS_ONLY\n#include "cars.c"\nint n = CARS_N_COLUMNS;\n')
    compile_c([tmp_path / "main.c", tmp_path / "user.c"], tmp_path / "program", compiler)
    printed = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True).stdout
    row = new_table().head(1).assign(age=40.0, fuel="diesel", sold=True, year=2000, y="b", checked=False)
    np.testing.assert_allclose(float(printed), model.predict(row)[0], rtol=1e-12)


@pytest.mark.parametrize("compiler", [name for name in ("g++", "clang++") if shutil.which(name)])
def test_it_is_also_cplusplus(compiler, tmp_path):
    to_c(example_models()["table"], tmp_path / "cars.c", dtype="float")
    command = [compiler, "-x", "c++", "-std=c++11", *STRICT, "-c", "cars.c", "-o", "cars.o"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.filterwarnings("ignore:Column 'fuel' has:UserWarning", "ignore::takagi.ExtrapolationWarning")
def test_the_inputs_of_bends_are_those_of_the_encoded_table(tmp_path):
    model, table = bend_table(), new_table()
    found = Compiled(to_c(model), tmp_path).predict(code_table(table, model[0].columns_))
    np.testing.assert_allclose(found[:, 0], model.predict(table), rtol=1e-11)


def test_a_sum_is_also_cplusplus(tmp_path):
    to_c(example_sums()["odd names"], tmp_path / "rules.c", dtype="float")
    command = ["g++", "-x", "c++", "-std=c++11", *STRICT, "-c", "rules.c", "-o", "rules.o"]
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[:2000]


def test_names_are_valid_and_different():
    text = to_c(example_rules()["odd names"], name="odd")
    constants = re.findall(r"^    (ODD_\w+) = \d+", text, re.MULTILINE)
    assert len(constants) == len(ODD_NAMES) + 2 + 2
    assert len(set(constants)) == len(constants)
    assert {"ODD_INT", "ODD_H_2", "ODD_N_RULES_2", "ODD_N_RULES_3", "ODD_X", "ODD_GROSSE_M2"} <= set(constants)
    assert "‮" not in text


def test_only_headers_of_the_standard_are_included():
    headers = set(re.findall(r"#include (.*)", to_c(example_models()["table"])))
    assert headers == {"<math.h>", "<stdint.h>", "<string.h>"}
    assert re.findall(r"#include (.*)", to_c(example_rules()["plain"])) == ["<math.h>"]


@pytest.mark.parametrize("name", ["", "2nd", "a b", "_x", "é", None])
def test_a_name_that_is_no_identifier_is_an_error(name):
    with pytest.raises(ValueError, match="name must be letters"):
        to_c(example_rules()["plain"], name=name)


def test_an_unknown_type_is_an_error():
    with pytest.raises(ValueError, match="dtype 'float64' is unknown, did you mean 'float'"):
        to_c(example_rules()["plain"], dtype="float64")


def test_numbers_that_do_not_fit_are_an_error():
    rules = RuleBase(centers=[[0.0]], widths=[[1e-310]], consequents=[[[1.0, 0.0]]])
    with pytest.raises(ValueError, match="beyond the range of float64"):
        to_c(rules)


@pytest.mark.parametrize("bend", [Bend(0, "log", 0.0, floor=1e-60), Bend(0, "up to", 1e60)], ids=["floor", "knot"])
def test_bends_that_single_precision_cannot_hold_are_an_error(bend):
    rules = make_part(np.random.default_rng(0), [0], n_features=1, bends=[bend])
    to_c(rules)
    with pytest.raises(ValueError, match="beyond the range of float32; export them as double precision"):
        to_c(rules, dtype="float")
