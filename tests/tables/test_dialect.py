import io

import pytest

from takagi.tables import RequestError
from takagi.tables._dialect import SPACES, find_dialect, find_encoding, set_names


def encoding_of(content):
    return find_encoding(content[:1000], io.BytesIO(content), "cars.csv")


def dialect_of(text, is_all=True):
    return find_dialect(text.encode(), "utf-8", is_all, "cars.csv")


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
        ("cp1252", "cp1252"),
    ],
)
def test_encoding_is_found_out(encoding, found):
    content = "größe,preis\n1,2\n3,“4”\n".encode(encoding)
    assert encoding_of(content)[0] == found
    assert content.decode(encoding_of(content)[0]).lstrip("\ufeff").startswith("größe")


def test_another_encoding_than_unicode_is_said_with_the_line():
    assert encoding_of("a\nb\nß\n".encode("latin-1")) == (
        "cp1252",
        "cars.csv is not UTF-8 (line 3) and is read as Windows-1252.",
    )
    assert encoding_of(b"a\n\xdf\x81\xe9\n")[0] == "latin-1"


def test_mixed_encodings_name_a_line_of_each():
    with pytest.raises(ValueError, match=r"mixes encodings: line 2 is UTF-8 and line 4 is not\. Save"):
        encoding_of(b"a\n" + "é\n".encode() + b"b\n" + "é\n".encode("latin-1"))


def test_other_files_than_text_are_told():
    with pytest.raises(ValueError, match="is no text"):
        encoding_of(bytes(range(256)) * 4)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiter_is_found_out(delimiter, end):
    lines = [["name", "age in years", "note"], ["a b", "3", "x y"], ['"q"', "", "4.5"]]
    assert dialect_of(end.join(delimiter.join(line) for line in lines)).delimiter == delimiter


def test_delimiters_in_quotation_marks_and_empty_lines_do_not_count():
    dialect = dialect_of('\n\na,b\n"1;2;3",4\n"5;6",7\n\n')
    assert (dialect.delimiter, dialect.first_row) == (",", ("a", "b"))


def test_runs_of_spaces_separate_where_nothing_else_does():
    text = '18.0   8   307.0\t"chevrolet chevelle"\n15.0   8   350.0\t"buick"\n'
    dialect = dialect_of(text)
    assert (dialect.delimiter, dialect.first_row) == (SPACES, ("18.0", "8", "307.0", "chevrolet chevelle"))
    assert dialect.looks_like_data
    assert dialect_of("a   b\n1  2\n 3 4\n").delimiter == SPACES
    assert dialect_of("a, b\n1, 2\n3, 4\n").delimiter == ","


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;2\n", ","),
        ("1,5;2,25\n3,5;4,75\n", ","),
        ("a;b\n1.5;2\n", "."),
        ("a;b\n1;2\n", "."),
        ("a,b\n1,5\n", "."),
        ("a\tb\n-0,5\t1e3\n", ","),
    ],
)
def test_decimal_sign_is_found_out(text, decimal):
    assert dialect_of(text).decimal == decimal


def test_a_cut_last_line_does_not_count():
    assert dialect_of("a;b;c\n1;2;3\n1;2", is_all=False).delimiter == ";"
    with pytest.raises(ValueError, match="no line break in its first megabyte"):
        dialect_of("a;b;c", is_all=False)


def test_a_single_column_is_one():
    assert dialect_of("price\n1\n2\n").first_row == ("price",)


def test_names_may_be_given():
    dialect = dialect_of("1,2\n3,4\n")
    assert set_names(dialect, None, "cars.csv").first_row == ("x0", "x1")
    assert set_names(dialect, ["a", "b"], "cars.csv").first_row == ("a", "b")
    with pytest.raises(RequestError, match="has 2 columns, but the number of given names is 1"):
        set_names(dialect, ["a"], "cars.csv")


def test_description_is_in_words():
    assert str(dialect_of("a;b\n1,5;2\n")) == "semicolon-separated, decimal comma, UTF-8"
