import _thread
import threading

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController, threadpool_limits

from takagi import TSKRegressor
from takagi.estimators._threads import count_fit_threads, with_one_blas_thread


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


# -- threads of a fit --------------------------------------------------------------------------------------------------


def count_in_fit(n_jobs=None):
    return with_one_blas_thread(count_fit_threads)(n_jobs)


def test_a_fit_has_the_threads_that_linear_algebra_has(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("takagi.estimators._threads.cpu_count", lambda: 8)
    assert count_in_fit() == 2
    assert count_in_fit(1) == 1
    with threadpool_limits(1):
        assert count_in_fit() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert count_in_fit() == 1


def test_a_fit_among_others_has_one_thread():
    assert Parallel(2, prefer="threads")(delayed(count_in_fit)() for _ in range(2)) == [1, 1]
    assert Parallel(2)(delayed(count_in_fit)() for _ in range(2)) == [1, 1]


@pytest.mark.parametrize("n_rows", [80, 700])
def test_threads_do_not_change_the_fit(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    one, two = (TSKRegressor(max_iter=60, random_state=0, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert np.array_equal(one.predict(X), two.predict(X))
    assert [stage[:3] for stage in one.stages_] == [stage[:3] for stage in two.stages_]


def test_ctrl_c_ends_all_threads_of_a_fit():
    X = np.random.default_rng(0).normal(size=(60, 2))  # so few that pilots of several splits run side by side
    model, before = TSKRegressor(max_iter=10**5, random_state=0, n_jobs=2), set(threading.enumerate())
    told = []

    def interrupt(progress):
        if progress.n_iter >= 500 and not told:
            told.append(progress)
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        model.fit(X, X[:, 0] * X[:, 1], callback=interrupt)
    for thread in set(threading.enumerate()) - before:  # one that was just started is not waited for
        thread.join(30)
        assert not thread.is_alive()
    assert not hasattr(model, "model_")


def test_an_error_in_a_callback_is_raised():
    X = np.random.default_rng(0).normal(size=(300, 3))

    def fail(progress):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        TSKRegressor(max_iter=2000, random_state=0, n_jobs=2).fit(X, X[:, 0] * X[:, 1], callback=fail)
