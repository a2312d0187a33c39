import os
import signal
import threading

import pytest

from retentia.cli.interrupt import interruptible


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(5)


def test_an_interruption_that_python_dropped_is_noticed_at_the_next_step() -> None:
    with interruptible() as check:
        check()
        with pytest.raises(KeyboardInterrupt):
            press()
        # as where a callback of the interpreter swallowed it
        with pytest.raises(KeyboardInterrupt):
            check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_another_thread_nothing_is_installed() -> None:
    def work() -> None:
        with interruptible() as check:
            check()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
