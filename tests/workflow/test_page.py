import re
from pathlib import Path

import pytest
from made_cars import make_cars

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
BLOCKS = [code for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if "open_table" in code]


@pytest.mark.slow
@pytest.mark.parametrize("code", BLOCKS)
def test_code_of_the_page_runs(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make_cars().to_csv("cars.csv", index=False)
    names = {}
    exec(code, names)
    out = capsys.readouterr().out
    if "frame" in names:
        assert list(names["frame"].columns) == ["weight", "fuel"]
        assert "comma-separated, UTF-8" in out
    else:
        assert names["model"].predict(names["data"].X).shape == (198,)
        assert "ridge regression" in out
        done, total = re.findall(r"task='Training 4 rules on 198 rows', done=(\d+), total=(\d+), unit='iter", out)[-1]
        assert done == total


def test_the_page_has_both_ways():
    assert len(BLOCKS) == 2
