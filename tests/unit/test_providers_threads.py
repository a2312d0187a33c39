import threading

from threadpoolctl import threadpool_info

from retentia.providers.e5 import E5Embedder
from retentia.providers.threads import one_blas_thread, one_openmp_thread


def numbers_of_threads(api: str) -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == api]


def test_blas_keeps_one_thread_until_the_last_one_leaves() -> None:
    import numpy as np

    assert np.ones(2) @ np.ones(2) == 2
    before = numbers_of_threads("blas")
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with one_blas_thread():
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=stay)
    with one_blas_thread():
        other.start()
        assert inside.wait(10)
    assert set(numbers_of_threads("blas")) == {1}
    leave.set()
    other.join()
    assert numbers_of_threads("blas") == before


def test_openmp_keeps_one_thread_only_where_it_was_asked_to() -> None:
    E5Embedder().warm()
    before = numbers_of_threads("openmp")
    with one_openmp_thread():
        assert set(numbers_of_threads("openmp")) == {1}
    assert numbers_of_threads("openmp") == before
