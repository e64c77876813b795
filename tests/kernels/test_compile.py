import gc

import pytest

from takagi.kernels._compile import entry_point


def double(x):
    return x + x


@pytest.mark.parametrize("is_on", [True, False])
def test_garbage_collection_is_afterwards_as_before(is_on, tmp_path, monkeypatch):
    monkeypatch.setenv("TAKAGI_CACHE_DIR", str(tmp_path))
    (gc.enable if is_on else gc.disable)()
    try:
        assert entry_point(double)(2.0) == 4.0
        assert gc.isenabled() == is_on
    finally:
        gc.enable()
