import pytest
from ending import answer

from _apart import OUT_OF_TIME, execute_apart, limit_processor_seconds


def report_failure(run, reason):
    return run, reason


@pytest.mark.slow
def test_process_that_ends_does_not_stop_the_others():
    results = list(execute_apart([0, 1, 5, 2, 3, 6], answer, report_failure))
    assert results == [0, (1, OUT_OF_TIME), 10, (2, "ended by SIGKILL"), (3, "ended with code 7"), 12]


@pytest.mark.slow
def test_process_that_hangs_is_ended_when_patience_ends():
    assert list(execute_apart([0, 4, 7], answer, report_failure, patience=6.0)) == [0, (4, OUT_OF_TIME), 14]


def test_limit_is_lifted_after_the_block():
    import resource

    before = resource.getrlimit(resource.RLIMIT_CPU)
    with limit_processor_seconds(100):
        assert resource.getrlimit(resource.RLIMIT_CPU)[0] < before[0] or before[0] == resource.RLIM_INFINITY
        assert resource.getrlimit(resource.RLIMIT_CPU)[0] != resource.RLIM_INFINITY
    assert resource.getrlimit(resource.RLIMIT_CPU) == before


def test_nothing_to_run_starts_no_process():
    assert list(execute_apart([], pytest.fail, report_failure)) == []
