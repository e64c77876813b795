import contextlib
import time

import numpy as np
import pytest

from takagi.export import read_fis

MATLAB = """% a system as Matlab writes it
[System]
Name='controller'
Type='sugeno'
Version=2.0
NumInputs=2
NumOutputs=1
NumRules=3
AndMethod='prod'
OrMethod='probor'
ImpMethod='prod'
AggMethod='sum'
DefuzzMethod='wtaver'

[Input1]
Name='input 1'
Range=[-5 5]
NumMFs=2
MF1='low':'gaussmf',[4 -5]
MF2='high':'gaussmf',[-4 5]

[Input2]
Name='50% rule'
Range=[0 1]
NumMFs=1
MF1='in2mf1':'gaussmf',[0.25 0.5]

[Output1]
Name='output'
Range=[0 1]
NumMFs=3
MF1='line1':'linear',[-1 2 -1]
MF2='level':'constant',[0.5]
MF3='unused':'linear',[7 7 7]

[Rules]
1 1, 1 (1) : 1
2 0, 2 (1) : 1
2 1, 1 (1) : 1
"""

HAND_MADE = """
# Octave's comments
[ Output1 ]
NumMFs = 1
  MF1 = "only" : "linear" , [ 2.0, 1e0 ]   % trailing
Range = [ 0  30 ]
Name = "tip"
[Rules]
1 , 1(1):2
[Input1]
Name = 'service'\tcomment? no: part of nothing
Range=[0 10]
NumMFs=1
MF1='good':'gaussmf',[1.5 5]
[System]
DefuzzMethod = "wtaver"
AndMethod='min'
Name="x"
TYPE='Sugeno'
NumRules= 1
numinputs=1
NumOutputs =1
"""


def read(tmp_path, text, encoding="utf-8"):
    (tmp_path / "x.fis").write_bytes(text.encode(encoding))
    return read_fis(tmp_path / "x.fis")


def evaluate(X):
    """Multiply memberships as Matlab does, for the system above."""
    a, b = X.T
    low, high, middle = np.exp(-((a + 5) ** 2) / 32), np.exp(-((a - 5) ** 2) / 32), np.exp(-((b - 0.5) ** 2) / 0.125)
    firing = np.column_stack([low * middle, high, high * middle])
    line = -a + 2 * b - 1
    return (firing * np.column_stack([line, np.full_like(a, 0.5), line])).sum(axis=1) / firing.sum(axis=1)


def test_a_system_of_matlab_is_read(tmp_path):
    rules = read(tmp_path, MATLAB)
    X = np.random.default_rng(0).uniform([-5, 0], [5, 1], size=(50, 2))
    np.testing.assert_allclose(rules.predict(X), evaluate(X), rtol=1e-12, atol=1e-14)
    assert rules.feature_names == ("input 1", "50% rule")
    assert rules.output_names == ("output",)
    assert rules.widths.tolist() == [[4, 0.25], [4, np.inf], [4, 0.25]]
    assert rules.sets.tolist() == [[0, 0], [1, 1], [1, 0]]


def test_order_spaces_quotes_and_comments_do_not_matter(tmp_path):
    rules = read(tmp_path, HAND_MADE.replace("\tcomment? no: part of nothing", ""))
    np.testing.assert_allclose(rules.predict([[0.0], [3.0]]), [1.0, 7.0])
    assert rules.output_names == ("tip",)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig"])
def test_other_encodings_and_line_ends_are_read(tmp_path, encoding):
    rules = read(tmp_path, MATLAB.replace("input 1", "größe").replace("\n", "\r\n"), encoding)
    assert rules.feature_names[0] == "größe"


def test_equal_weights_cancel_and_rules_of_weight_zero_do_not_count(tmp_path):
    rules = read(tmp_path, MATLAB)
    weighted = read(tmp_path, MATLAB.replace("(1)", "(0.5)"))
    X = [[0.3, 0.2]]
    np.testing.assert_array_equal(weighted.predict(X), rules.predict(X))
    dropped = read(tmp_path, MATLAB.replace("2 0, 2 (1)", "2 0, 2 (0)"))
    np.testing.assert_array_equal(dropped.predict(X), rules.take([0, 2]).predict(X))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("'sugeno'", "'mamdani'", "line 4: only Sugeno systems can be read, got Type='mamdani'"),
        ("'wtaver'", "'wtsum'", "line 13: DefuzzMethod must be 'wtaver'"),
        ("AndMethod='prod'", "AndMethod='min'", "line 9: AndMethod must be 'prod'"),
        ("'low':'gaussmf',[4 -5]", "'low':'trimf',[1 2 3]", "line 19: expected 'gaussmf'.*trimf"),
        ("[4 -5]", "[0 -5]", "line 19: expected 'gaussmf' with a width other than 0"),
        ("[4 -5]", "[4 nan]", "line 19: expected finite numbers"),
        ("[4 -5]", "[4 five]", "line 19: expected numbers, got '4 five'"),
        ("MF1='low'", "MF7='low'", r"line 15: \[Input1\] has no MF1"),
        ("'low':'gaussmf',[4 -5]", "'low',[4 -5]", "line 19: expected a membership function such as"),
        ("[-1 2 -1]", "[-1 2]", "line 32: expected 'linear' with 3 numbers or 'constant' with 1"),
        ("'linear',[-1", "'quadratic',[-1", "line 32: expected 'linear'.*quadratic"),
        ("2 1, 1 (1) : 1", "2 -1, 1 (1) : 1", "line 39: a negative number is a condition with NOT"),
        ("2 1, 1 (1) : 1", "2 1.2, 1 (1) : 1", "line 39: a number with a fraction is a hedge"),
        ("2 1, 1 (1) : 1", "2 1, 1 (1) : 2", "line 39: conditions are joined by OR"),
        ("2 1, 1 (1) : 1", "2 1, 1 (0.3) : 1", "line 39: the rule has the weight 0.3"),
        ("2 1, 1 (1) : 1", "2 1, 0 (1) : 1", "line 39: the rule leaves an output open"),
        ("2 1, 1 (1) : 1", "2 4, 1 (1) : 1", "line 39: the rule names membership function 4, but there are only 1"),
        ("2 1, 1 (1) : 1", "2 1e300, 1 (1) : 1", r"line 39: there is no membership function 1e\+300"),
        ("2 1, 1 (1) : 1", "2 1 1, 1 (1) : 1", "line 39: expected 2 inputs, got 3"),
        ("2 1, 1 (1) : 1", "IF a THEN b", "line 39: expected a rule such as"),
        ("NumRules=3", "NumRules=4", "line 8: NumRules is 4, but there are 3 rules"),
        ("NumRules=3", "NumRules=three", "line 8: NumRules must be a whole number, got 'three'"),
        ("NumRules=3", f"NumRules={'3' * 10_000}", "line 8: NumRules must be a whole number, got '3333.{200,400}$"),
        ("NumInputs=2", "NumInputs=3", r"has no section \[Input3\]"),
        ("NumInputs=2", "NumInputs=0", "line 6: the system has no inputs"),
        ("NumOutputs=1", "", r"line 2: \[System\] has no NumOutputs"),
        ("[Input2]", "[Input1]", r"line 22: section \[Input1\] comes twice"),
        ("[Rules]", "", r"has no section \[Rules\]"),
        ("(1)", "(0)", r"line 36: there is no rule with a weight above 0"),
        ("[System]", "", "line 3: expected .System., got \"Name='controller'\". Is this a .fis file"),
        (MATLAB, "", r"has no section \[System\]. Is this a .fis file"),
        (MATLAB, "\x89PNG\x00\n\x1a", "line 1: expected .System."),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path, old, new, message):
    assert old in MATLAB
    with pytest.raises(ValueError, match=message):
        read(tmp_path, MATLAB.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Version=2.0", f"Version=2.0 {'%' * 300_000}'"),
        ("MF1='low'", f"MF1='{chr(39) + ':' + chr(39) * 100_000}'"),
        ("2 1, 1 (1) : 1", f"2 1, 1 {'(1)' * 100_000}"),
    ],
    ids=["comments", "quotes", "brackets"],
)
def test_time_grows_with_the_length_of_a_line_and_not_with_its_square(tmp_path, old, new):
    start = time.process_time()
    with contextlib.suppress(ValueError):
        read(tmp_path, MATLAB.replace(old, new))
    assert time.process_time() - start < 2


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no\.fis"):
        read_fis(tmp_path / "no.fis")
