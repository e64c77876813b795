from collections import Counter
from pathlib import Path

import pytest
from numba import njit

import house


def called():
    return [helper() for _ in range(2)]


def helper():
    return sorted([2, 1], key=lambda number: -number)


@njit
def compiled():
    return 1


def test_functions_are_counted_once_and_neither_lambdas_nor_comprehensions_are(monkeypatch):
    monkeypatch.setattr(house, "SOURCE", Path(__file__).parent)
    assert {name for _, name in house.trace(called)} == {"called", "helper"}


def test_compiled_functions_are_not_counted(monkeypatch):
    monkeypatch.setattr(house, "SOURCE", Path(__file__).parent)
    assert house.list_compiled() == {(__file__, "compiled")}
    assert house.trace(compiled) == set()


def test_long_functions_are_those_with_more_lines_of_code_than_the_docstring_has(tmp_path):
    body = "\n        ".join(["a = 1"] * 6)
    text = (
        f"class One:\n    def long(self):\n        {body}\n\n    def short(self):\n"
        + '        """Say\n\n        much\n\n        more.\n        """\n        return 1\n'
    )
    path = tmp_path / "one.py"
    path.write_text(text)
    assert house.measure_functions(path) == {"One.long": 6, "One.short": 1}
    assert house.count_long({(str(path), "One.long"), (str(path), "One.short")}) == 1


def test_sizes_and_repeated_names_are_those_of_the_modules():
    modules = {
        Path("top.py"): "class One: ...\nlimit, _own = 1, 2\n",
        Path("pack/a.py"): "from top import One\ndef go():\n    def limit(): ...\n",
        Path("pack/b.py"): "limit: int = 3\ndef go(): ...\n_own = 4\n",
    }
    assert house.measure_packages(modules) == {
        "modules": Counter(files=1, lines=2, classes=1),
        "pack": Counter(files=2, lines=6, classes=0),
    }
    assert house.find_repeated_names(modules) == {
        "go": [Path("pack/a.py"), Path("pack/b.py")],
        "limit": [Path("top.py"), Path("pack/b.py")],
    }


def test_a_kernel_and_its_twin_have_one_name_on_purpose():
    twins = {Path("kernels/_a.py"): "def go(): ...", Path("kernels/_plain.py"): "def go(): ..."}
    assert house.find_repeated_names(twins) == {}
    assert house.find_repeated_names({**twins, Path("top.py"): "go = 1"}) == {
        "go": [Path("kernels/_a.py"), Path("top.py")]
    }


@pytest.mark.slow
def test_the_tables_agree_with_each_other(capsys):
    house.main()
    calls, packages, _ = capsys.readouterr().out.split("\n\n")
    counts = {row.rsplit(maxsplit=3)[0]: [int(word) for word in row.split()[-3:]] for row in calls.splitlines()[2:]}
    assert all(1 < n_files < n_long < n_functions for n_files, n_functions, n_long in counts.values())
    assert counts["TSKCommittee().fit"] > counts["TSKRegressor().fit"]
    *sizes, total = ([int(word) for word in row.split()[1:]] for row in packages.splitlines()[2:])
    assert total == [sum(column) for column in zip(*sizes, strict=True)]
    assert total[0] == len(list(house.SOURCE.rglob("*.py")))
