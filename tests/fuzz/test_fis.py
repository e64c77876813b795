"""Systems of Matlab with words, marks and numbers in wrong places: refused by line, or read."""

import contextlib
import random
import re

import numpy as np
from hostile import ANYTHING, attack, bounded
from hypothesis import given
from hypothesis import strategies as st

from takagi import RuleBase
from takagi.export import read_fis, to_fis

RULES = RuleBase([[0.0, 1.0], [1.0, 0.0]], np.ones((2, 2)), np.ones((2, 1, 3)), feature_names=["a", "b"])
MARKS = st.sampled_from(
    ["[", "]", "'", '"', "%", "#", "=", "(", ")", ":", ",", "\n", "%" * 10_000 + "'", "':'" * 3_000]
)


@attack
@given(st.integers(0, 2**32), st.lists(st.one_of(MARKS, ANYTHING.map(str)), min_size=1, max_size=4))
def test_a_spoiled_system_is_refused_or_read(tmp_path, seed, pieces):
    text, rng = to_fis(RULES), random.Random(seed)
    for piece in pieces:
        word = rng.choice(list(re.finditer(r"[-\d.e]+|\w+|$", text)))
        start = rng.choice([word.start(), rng.randrange(len(text))])
        text = text[:start] + piece + text[max(start, word.end()) if rng.random() < 0.7 else start :]
    path = tmp_path / "system.fis"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with bounded(seconds=10), contextlib.suppress(ValueError):
        rules = read_fis(path)
        assert len(rules.predict(np.zeros((3, rules.n_features)))) == 3
