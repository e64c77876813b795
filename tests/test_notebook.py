import html
import re

import pytest

from takagi import RuleModel
from takagi.inspection import check_rules, explain_local
from takagi.simplification import simplify


def read_html(shown):
    """Return the text of what is shown, which must be one element without any address."""
    found = re.fullmatch(r'<pre style="[^"]*">(.*)</pre>', shown, flags=re.DOTALL)
    assert "http" not in shown
    assert "<" not in found[1]
    return html.unescape(found[1])


def test_what_a_cell_ends_with_shows_what_print_prints(diabetes):
    model, X, y = diabetes
    results = [
        model.rule_base_,
        RuleModel((model.rule_base_,)),
        explain_local(model, X.head(2)),
        check_rules(model, X, y),
    ]
    for result in results:
        assert read_html(result._repr_html_()) == str(result)


def test_names_are_no_markup(by_hand):
    rules, _ = by_hand
    named = rules.rename(["<script>alert(1)</script>", "a & b"])
    assert "<script>" in read_html(named._repr_html_())


@pytest.mark.slow
def test_a_simplification_shows_itself(diabetes):
    result = simplify(*diabetes, max_rules=1)
    assert read_html(result._repr_html_()) == str(result)
