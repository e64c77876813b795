"""Hostile input, drawn at random: the same few examples in the suite, an hour of new ones with ``pytest -m fuzz``."""

import pytest
from hypothesis import settings

SHORT, HOUR = 12, 2_000  # examples of each test

settings.register_profile("fuzz", max_examples=HOUR, print_blob=True)


def pytest_configure(config):
    if config.option.markexpr == "fuzz":
        settings.load_profile("fuzz")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "fuzz":
            item.add_marker(pytest.mark.fuzz)
