import pandas as pd
import pytest
from made_cars import make_cars

from takagi.tables import RequestError, SheetWarning, TableLayout, TitleWarning, open_table


def write_book(path, engine=None):
    """A book with a title above the names, a table that begins in the second column, and another sheet."""
    with pd.ExcelWriter(path, engine=engine) as book:
        cars = make_cars(20)
        below = [[None, *row] for row in [cars.columns, *cars.astype(object).to_numpy()]]
        blank = [None] * cars.shape[1]
        rows = [["Cars of the yard", *blank], [None, *blank], [None, *blank], *below]
        pd.DataFrame(rows).to_excel(book, sheet_name="cars", index=False, header=False)
        pd.DataFrame({"note": ["none"], "empty": [None]}).to_excel(book, sheet_name="notes", index=False)


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_titles_and_sheets_are_told_and_chosen(tmp_path, suffix):
    pytest.importorskip("odf" if suffix == "ods" else "openpyxl")
    path = tmp_path / f"cars.{suffix}"
    write_book(path, "odf" if suffix == "ods" else None)
    with (
        pytest.warns(SheetWarning, match="has the sheets 'cars', 'notes'; the first is read"),
        pytest.warns(TitleWarning, match=f"1 row above its names, which are in row 4: '{make_cars(20).columns[0]}'"),
    ):
        table = open_table(path)
    assert table.names == list(make_cars(20).columns)
    assert table.read(["weight"])["weight"].tolist() == make_cars(20)["weight"].tolist()
    assert open_table(path, TableLayout(sheet="cars", header_row=4)).names == table.names
    assert open_table(path, TableLayout(sheet="notes")).names == ["note", "empty"]
    with pytest.raises(RequestError, match=r"row 2 of .* is empty"):
        open_table(path, TableLayout(sheet="cars", header_row=2))


def test_merged_cells_below_the_title_are_told(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Sales by region"])
    book.active.append(["region", "sold"])
    for k in range(9):
        book.active.append(["north" if k == 0 else None, k])
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "title.xlsx")
    book.active.merge_cells("A3:A11")
    book.save(tmp_path / "merged.xlsx")
    with pytest.warns(TitleWarning, match="1 row above its names") as told:
        open_table(tmp_path / "title.xlsx")
    assert [one.category for one in told] == [TitleWarning]
    with pytest.warns(TitleWarning), pytest.warns(UserWarning, match=r"has merged cells \(A3:A11\)\. Only the first"):
        assert open_table(tmp_path / "merged.xlsx").read(["region"])["region"].isna().sum() == 8
