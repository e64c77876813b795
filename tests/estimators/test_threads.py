import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from takagi import TSKRegressor
from takagi.estimators._threads import with_one_blas_thread


def list_libraries():
    return ThreadpoolController().select(user_api="blas").lib_controllers


def count_threads():
    return [library.num_threads for library in list_libraries()]


def set_threads(counts):
    for library, n_threads in zip(list_libraries(), counts, strict=True):
        library.set_num_threads(n_threads)
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


@pytest.fixture(autouse=True)
def two_threads():
    """Libraries that may use two threads, and nobody's limit on them."""
    before = count_threads()
    set_threads([2] * len(before))
    yield
    set_threads(before)


def test_the_last_to_leave_lifts_the_limit():
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    inside = {}

    @with_one_blas_thread
    def first():
        first_is_in.set()
        second_is_in.wait(10)
        inside["first"] = count_threads()

    @with_one_blas_thread
    def second():
        second_is_in.set()
        first_is_out.wait(10)
        inside["second"] = count_threads()

    threads = [threading.Thread(target=function) for function in (first, second)]
    threads[0].start()
    first_is_in.wait(10)
    threads[1].start()
    threads[0].join()
    first_is_out.set()
    threads[1].join()
    assert set(inside["first"]) == set(inside["second"]) == {1}
    assert set(count_threads()) == {2}


def test_an_error_and_a_call_within_a_call_lift_the_limit_too():
    @with_one_blas_thread
    def fail():
        raise ValueError("no")

    @with_one_blas_thread
    def call():
        try:
            fail()
        except ValueError:
            return count_threads()

    assert set(call()) == {1}
    assert set(count_threads()) == {2}


def test_a_limit_of_the_user_is_left_alone():
    with threadpool_limits(1, user_api="blas"):
        assert set(with_one_blas_thread(count_threads)()) == {1}
        assert set(count_threads()) == {1}
    assert set(count_threads()) == {2}


def test_a_fit_has_the_same_bits_whatever_the_libraries_may_use():
    X = np.random.default_rng(0).normal(size=(500, 4))
    fits = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            fits.append(TSKRegressor(4, max_iter=50, random_state=0).fit(X, X[:, 0] * X[:, 1]).predict(X))
    np.testing.assert_array_equal(*fits)
