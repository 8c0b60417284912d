"""Jobs in threads, each on one core."""

import threading
import time

import joblib
import numpy as np
import pytest
import sklearn
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_info, threadpool_limits

from partita._support.parallel import (
    _blas_on_one_thread,
    _workers,
    exclusive,
    on_one_thread,
    one_thread_settings,
    run_each,
)


def pool_sizes(api):
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == api}


@pytest.mark.parametrize("n_jobs", [1, 2, None])
@pytest.mark.parametrize("serial", [False, True])
def test_results_come_in_the_order_of_the_jobs(n_jobs, serial):
    def slower_first(k):
        time.sleep(0.02 if k == 0 else 0)
        return k

    jobs = [(k,) for k in range(6)]
    assert list(run_each(slower_first, jobs, n_jobs, 6, "fitted", 0, serial)) == list(range(6))


def test_an_error_in_a_job_is_raised_and_the_limits_are_lifted():
    before = pool_sizes("blas")

    def fails(k):
        raise ZeroDivisionError(k)

    with pytest.raises(ZeroDivisionError):
        list(run_each(fails, [(1,)], 2, 1, "fitted", 0))
    assert pool_sizes("blas") == before


def test_libraries_have_one_thread_within_a_job_and_their_own_number_afterwards():
    with threadpool_limits(2):
        found = list(run_each(lambda: pool_sizes("blas"), [(), ()], 2, 2, "fitted", 0))
        assert found == [{1}, {1}]
        assert pool_sizes("blas") == {2}


def test_the_limit_of_blas_lasts_as_long_as_anybody_needs_it():
    """The threads of a process share it: the first to finish must not lift it for the others."""
    with threadpool_limits(2, "blas"):
        first, second = _blas_on_one_thread(), _blas_on_one_thread()
        first.__enter__()
        second.__enter__()
        assert pool_sizes("blas") == {1}
        first.__exit__(None, None, None)
        assert pool_sizes("blas") == {1}
        second.__exit__(None, None, None)
        assert pool_sizes("blas") == {2}


def test_a_job_sees_the_settings_of_the_thread_that_asked_for_it():
    with sklearn.config_context(assume_finite=True):
        (found,) = run_each(sklearn.get_config, [()], 2, 1, "fitted", 0)
    assert found["assume_finite"]
    assert not sklearn.get_config()["assume_finite"]
    seen = on_one_thread({"assume_finite": True}, sklearn.get_config)
    assert seen["assume_finite"]


def test_serial_jobs_of_two_ensembles_never_overlap():
    running, overlaps = [], []

    def job(k):
        running.append(k)
        time.sleep(0.01)
        overlaps.append(len(running) > 1)
        running.remove(k)

    def fit():
        list(run_each(job, [(k,) for k in range(3)], 2, 3, "fitted", 0, serial=True))

    threads = [threading.Thread(target=fit) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == [False] * 9


def test_exclusive_blocks_may_nest_and_wait_only_where_needed():
    inside = threading.Event()

    def other():
        with exclusive(False):
            inside.set()

    with exclusive(True), exclusive(True):
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(5)
        thread.join()


def test_all_cores_are_taken_unless_somebody_else_decides():
    assert _workers(None) == joblib.cpu_count()
    assert _workers(3) == 3
    with joblib.parallel_config("threading", n_jobs=3):
        assert _workers(None) is None  # joblib then takes the context's number
    outer = joblib.Parallel(n_jobs=2, prefer="threads")
    assert outer(joblib.delayed(_workers)(None) for _ in range(2)) == [None, None]


def test_threads_are_taken_from_estimators_and_their_parts():
    assert one_thread_settings(LGBMClassifier()) == {"n_jobs": 1}
    assert one_thread_settings(RandomForestClassifier(n_jobs=-1)) == {"n_jobs": 1}
    assert one_thread_settings(RandomForestClassifier()) == {}  # None is one thread in sklearn
    pipeline = make_pipeline(LogisticRegression(), LGBMClassifier(num_threads=4))
    assert one_thread_settings(pipeline) == {
        "lgbmclassifier__n_jobs": 1,
        "lgbmclassifier__num_threads": 1,
    }


def test_progress_is_shown_where_verbose(capsys):
    assert list(run_each(np.square, [(2,), (3,)], 1, 2, "fitted", 1)) == [4, 9]
    out, err = capsys.readouterr()
    assert out == ""
    assert "partita: fitted 2 of 2 submodels" in err
    list(run_each(np.square, [(2,)], 1, 1, "fitted", 0))
    assert capsys.readouterr().err == ""
