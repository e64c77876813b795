"""Rules as plain values."""

from dataclasses import replace

import numpy as np
import pytest

from cases import make_rules, to_takagi
from takagi.persistence._rules import decode_rules, encode_rules
from takagi.persistence._schema import ModelFileError, Node


def test_rules_with_and_without_a_link_come_back():
    rules = to_takagi(make_rules(np.random.default_rng(0)))
    linked = replace(rules, link="logit")
    assert decode_rules(Node(encode_rules(linked), "rules")) == linked
    assert decode_rules(Node(encode_rules(rules), "rules")) == rules


def test_an_unknown_link_is_refused():
    encoded = encode_rules(to_takagi(make_rules(np.random.default_rng(0)))) | {"link": "probit"}
    with pytest.raises(
        ModelFileError, match=r"rules.link must be one of 'identity', 'logit', 'softmax', got \"probit\""
    ):
        decode_rules(Node(encoded, "rules"))
