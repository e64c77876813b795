"""What an attacker writes in the place of a number or a name, and what a use of the library may do about it."""

import signal
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

resource = pytest.importorskip("resource")
_SHORT = 8  # examples of a test in the suite
_IS_HOUR = settings.get_current_profile_name() == "fuzz"

attack = settings(
    deadline=None,
    max_examples=settings().max_examples if _IS_HOUR else _SHORT,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)

NUMBERS = st.sampled_from([
    0, -0.0, -1, 1, 0.5, 1e6, -1e20, 1e100, 1e150, -1e155, 1e200, 1e300, -1e308, 1.7e308,
    1e-20, 1e-100, 1e-154, 1e-160, 1e-308, 5e-324, 2**31, 2**62, 2**63, 10**40,
])  # fmt: skip
WORDS = st.sampled_from([
    "", " ", "x", "missing", "\0", "\x1b]0;title\x07", "\x9b31m", "\x7f", "\u202eevil", "\u2028", "</script><script>",
    "[/red]", "{{7*7}}", "%s%n", "*/", "'];", "=cmd|calc", "../../x", "__proto__", "A" * 5_000, "1e999", "٣", "nan",
])  # fmt: skip
ANYTHING = st.one_of(NUMBERS, WORDS, st.sampled_from([None, True, False, [], {}, [[]], [None], {"class": "x"}]))


class TooSlow(BaseException):
    """Time is over; no handler of errors catches it."""


@contextmanager
def bounded(seconds=30, megabytes=600):
    """Fail if something takes too long (of the processor's time, as machines are busy) or too much memory."""

    def stop(*_):
        raise TooSlow(f"more than {seconds} seconds")

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < megabytes, f"{grown:.0f} MB more"


def has_controls(text):
    """Whether a text could steer a terminal."""
    return any((ord(c) < 32 and c != "\n") or c in "\x7f\x9b\u202e" for c in text)
