"""Hostile input, drawn at random: the same few examples in the suite, about an hour of new ones with ``-m fuzz``.

``FUZZ_EXAMPLES=100`` makes the hour shorter: examples of each test. What it finds is kept, as an ``@example`` of the
test, and by hypothesis in ``.hypothesis``.
"""

import os

import pytest
from hypothesis import settings


def pytest_configure(config):
    settings.register_profile("fuzz", max_examples=int(os.environ.get("FUZZ_EXAMPLES", "6000")), print_blob=True)
    if config.option.markexpr == "fuzz":
        settings.load_profile("fuzz")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "fuzz":
            item.add_marker(pytest.mark.fuzz)
