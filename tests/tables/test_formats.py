import pytest

from takagi.tables._formats import find_date_form, find_number_form, find_odd_word, parse_date, parse_in_form


@pytest.mark.parametrize(
    ("words", "form", "numbers"),
    [
        (["$1,234.50", "$7", "-$0.5", "($2.00)"], ".$", [1234.5, 7, -0.5, -2]),
        (["12.5 %", "3%", "0"], ".%", [12.5, 3, 0]),
        (["1.234,5", "0,25", "7"], ",", [1234.5, 0.25, 7]),
        (["€ 1.200,00", "€ 5,5"], ",€", [1200, 5.5]),
        (["1 234", "56"], ".", [1234, 56]),
        (["12'500", "3"], ".", [12500, 3]),
        (["1,234", "5,678"], ".", [1234, 5678]),
        (["3 rooms", "1 room"], ".rooms", [3, 1]),
        (["5 USD", "7.5 USD"], ".usd", [5, 7.5]),
        (["-5°C", "\u22123°C"], ".°c", [-5, -3]),
    ],
)
def test_numbers_are_read_as_people_write_them(words, form, numbers):
    assert find_number_form(words) == form
    assert [parse_in_form(word, form) for word in words] == numbers


@pytest.mark.parametrize(
    "words",
    [
        ["$5", "7 EUR"],
        ["3k", "2k"],
        ["12A", "13B"],
        ["A1", "A2"],
        ["C0001", "C0002"],
        ["1st", "2nd"],
        ["12-14", "15-17"],
        ["1.2.3", "4.5.6"],
        ["1,23,4", "5"],
        ["<5", "7"],
        ["5", "many"],
        [],
    ],
)
def test_what_may_mean_something_else_is_no_number(words):
    assert find_number_form(words) is None


@pytest.mark.parametrize(
    ("words", "form", "days"),
    [
        (["1970-01-02", "1970-01-01T12:00:00Z"], "y-m-d", [1, 0.5]),
        (["1970/1/3 06:00"], "y-m-d", [2.25]),
        (["25/12/1970", "01.02.1970"], "d/m/y", [358, 31]),
        (["12/25/1970", "2/1/70"], "m/d/y", [358, 31]),
        (["1/2/1970", "2/1/1970"], "d/m/y", [31, 1]),  # either way; the day comes first
        (["1 Feb 1970", "2-March-1970"], "d month y", [31, 60]),
        (["Feb 1, 1970", "March 2 1970"], "month d y", [31, 60]),
        (["1970-02", "1970-03"], "y-m", [31, 59]),
        (["Feb 1970"], "month y", [31]),
        (["1970 Feb", "1970-March"], "y month", [31, 59]),
        (["6:00 pm", "00:30"], "clock", [0.75, 1 / 48]),
    ],
)
def test_dates_have_one_form(words, form, days):
    assert find_date_form(words) == form
    assert [parse_date(word, form) for word in words] == days


@pytest.mark.parametrize("words", [["2020-02-30"], ["2020-01-01", "1/1/2020"], ["25:00"], ["1 Foo 2020"], ["12"], []])
def test_what_is_no_day_is_no_date(words):
    assert find_date_form(words) is None


def test_the_odd_word_is_found():
    assert find_odd_word(["1", "2", "3", "4", "5", "6", "7", "8", "9", "many"]) == ("numbers", 9)
    assert find_odd_word(["$1", "$2", "$3", "€4", "$5"]) == ("numbers", 3)
    assert find_odd_word(["2020-01-01", "2020-01-02", "3/1/2020", "4 Jan 2020", "2020-01-05"]) == ("dates", 2)
    assert find_odd_word(["red", "green", "blue", "4", "5"]) is None
