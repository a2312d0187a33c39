"""Ask an endpoint again where that may help, and name what went wrong; the same for every vendor's package."""

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Generic, TypeVar

from retentia.errors import ModelError, ModelRejected, ModelReplyInvalid, ModelTimedOut, ModelUnavailable
from retentia.providers.chat.options import ChatOptions
from retentia.providers.openai_wire import explain
from retentia.providers.retry import is_transient, wait_seconds

T = TypeVar("T")

_LARGEST_REPLY = 16 << 20
_LONGEST_DELAY_SECONDS = 86_400.0
_DISPENSABLE = ("stream_options", "max_tokens")
_SAYS_UNKNOWN = re.compile(
    r"un(?:supported|recognized|known|expected)|not (?:supported|allowed|permitted)|extra", re.IGNORECASE
)
_OVERLOADED = 529  # Anthropic's own status


@dataclass(frozen=True, slots=True)
class Faults:
    """The exceptions of a vendor's package and of the HTTP library below it."""

    timed_out: tuple[type[Exception], ...]
    unreachable: tuple[type[Exception], ...]
    refused: type[Exception]
    every: tuple[type[Exception], ...]


@dataclass(frozen=True, slots=True)
class Patience:
    """How one endpoint is asked: `name` stands in errors, `faults` are turned into ours."""

    name: str
    options: ChatOptions
    faults: Faults
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def ask(self, request: Callable[[], T]) -> T:
        """Return what a request gives, making it again after faults that may pass; raise ModelError."""
        failures = 0
        while True:
            answer = self.once(request)
            if not isinstance(answer, ModelError):
                return answer
            failures += 1
            if not isinstance(answer, ModelUnavailable) or failures >= self.options.attempts:
                raise answer
            if answer.retry_after_seconds > self.options.longest_wait_seconds:
                raise answer
            chance = random.random()  # noqa: S311 - spreads retries, guards nothing
            self.sleep(max(answer.retry_after_seconds, wait_seconds(failures, chance=chance)))

    def once(self, request: Callable[[], T]) -> T | ModelError:
        """Return what a request gives, or the error that says what happened.

        It is returned, not raised from the package's own: that one holds the request, and a traceback would print
        what the server said of it.
        """
        try:
            return request()
        except ModelError as error:
            return error
        except self.faults.every as error:
            return self._named(error)

    def certain(self, request: Callable[[], T]) -> T:
        """Return what a request gives, made once; raise ModelError."""
        answer = self.once(request)
        if isinstance(answer, ModelError):
            raise answer
        return answer

    def broken_off(self) -> ModelUnavailable:
        """Return the error for an answer without its end."""
        return ModelUnavailable(f"{self.name} broke off its answer; try again")

    def deadline(self) -> Callable[[], None]:
        """Return a check that raises ModelTimedOut once the time for a request is over."""
        end = self.clock() + self.options.timeout_seconds

        def check() -> None:
            if self.clock() > end:
                raise self._late()

        return check

    def body(self, chunks: Iterator[bytes], check: Callable[[], None]) -> bytes:
        """Return a whole reply; raise ModelTimedOut when it drips in for too long, ModelReplyInvalid for a huge one."""
        body = bytearray()
        for chunk in chunks:
            body += chunk
            check()
            if len(body) > _LARGEST_REPLY:
                raise ModelReplyInvalid(f"{self.name} answered with more than {_LARGEST_REPLY >> 20} MB; ask again")
        return bytes(body)

    def not_understood(self, body: bytes) -> ModelReplyInvalid:
        """Return the error for a reply that is not of the protocol."""
        told = "is not what this protocol says; check that the address is that of a chat model"
        return ModelReplyInvalid(f"the answer of {self.name} {told}", reply=body.decode("utf-8", "replace"))

    def _named(self, error: Exception) -> ModelError:
        if isinstance(error, self.faults.timed_out):
            return self._late()
        if isinstance(error, self.faults.unreachable):
            return ModelUnavailable(f"{self.name} cannot be reached: {_reason(error)}; is it running?")
        if not isinstance(error, self.faults.refused):
            return self.broken_off()
        response: Any = getattr(error, "response", None)  # each package has its own type of it
        status = int(response.status_code)
        if status == HTTPStatus.OK:  # a stream that began well and then told an error
            return self.broken_off()
        told = explain(status, response.content, secret=self.options.api_key)
        if is_transient(status) or status == _OVERLOADED:
            wait = retry_after_seconds(response.headers.get("retry-after", ""), now=datetime.now(UTC))
            when = f"; it asks to wait {wait:g} seconds" if wait else ""
            return ModelUnavailable(f"{self.name} is not available: {told}{when}", retry_after_seconds=wait)
        message = f"{self.name} refused: {told}; {_remedy(status)}"
        return ModelRejected(
            message, status=status, unsupported=_unsupported(response.text), too_long="context" in told
        )

    def _late(self) -> ModelTimedOut:
        limit = f"{self.options.timeout_seconds:g} seconds"
        return ModelTimedOut(f"{self.name} did not answer within {limit}; try again, or raise timeout_seconds")


class OfThisProcess(Generic[T]):
    """What is made at first use, and made anew in a forked child: it must not write into its parent's connections."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: tuple[int, T] | None = None
        self._lock = threading.Lock()

    def get(self) -> T:
        made = self._made
        if made is None or made[0] != os.getpid():
            with self._lock:
                made = self._made
                if made is None or made[0] != os.getpid():
                    made = self._made = (os.getpid(), self._make())
        return made[1]


def retry_after_seconds(told: str, *, now: datetime) -> float:
    """Return how long a Retry-After header asks to wait, in seconds or until a date; 0 when it says nothing."""
    told = told.strip()
    try:
        asked = float(told) if told[:1].isdigit() else (parsedate_to_datetime(told) - now).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(asked, 0.0), _LONGEST_DELAY_SECONDS)


def _unsupported(told: str) -> str:
    """Return which of the fields that we can do without an error names as unknown; "" for none."""
    if not _SAYS_UNKNOWN.search(told):
        return ""
    return next((name for name in _DISPENSABLE if name in told), "")


def _remedy(status: int) -> str:
    match status:
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return "check the key"
        case HTTPStatus.PAYMENT_REQUIRED:
            return "check the account"
        case HTTPStatus.NOT_FOUND | HTTPStatus.METHOD_NOT_ALLOWED:
            return "check the address and the model's name"
        case HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return "send less text"
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return "give the address that it redirects to; redirects are not followed"
    return "check the model's name, the fields and the length of the text"


def _reason(error: Exception) -> str:
    """Return what the operating system says, which quotes nothing, looking through what packages wrapped around it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return type(error.__cause__ or error).__name__
