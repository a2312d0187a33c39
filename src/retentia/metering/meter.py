"""A chat model whose calls are counted, and refused beyond a ceiling.

A call is reserved before it is made, at the most it can take, and corrected afterwards: two processes cannot pass the
ceiling together, and what a killed process reserved stays counted. The store is only written before and after; nothing
of it is held while the model works.
"""

import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from retentia.errors import CostCeilingReached, InvalidInput, ModelError, ModelReplyInvalid, ModelTimedOut, StoreError
from retentia.model.price import PRICES, Price, price_of
from retentia.model.spending import Ceiling, Spending
from retentia.providers.chat.base import ChatMessage, ChatModel, Completion, JsonSchema, ReplyStream, Usage
from retentia.providers.chat.options import ChatOptions
from retentia.store import model_usage, tenant_settings
from retentia.store.database import Database

_DAY = 86_400_000_000
_ESTIMATE = ChatOptions()


@dataclass(frozen=True, slots=True)
class _Reserved:
    day: int
    most: Spending


class Meter:
    """Makes the calls of one job, or of one caller, through `model`, on the account of a tenant.

    `job` is the ceiling for this meter, so make one for each job. `day` is the ceiling for the tenant's UTC day in all
    processes together; one that the tenant has set for itself takes its place. Raises InvalidInput where a ceiling of
    cost is set and the model has no price; a call raises CostCeilingReached before anything is sent.
    """

    def __init__(
        self,
        model: ChatModel,
        database: Database,
        *,
        tenant: str,
        purpose: str,
        job: Ceiling | None = None,
        day: Ceiling | None = None,
        prices: Mapping[str, Price] = PRICES,
    ) -> None:
        if not tenant or not purpose:
            raise InvalidInput("calls are counted for a tenant and a purpose; name both")
        self.identity = model.identity
        self._model = model
        self._database = database
        self._tenant = tenant
        self._purpose = purpose
        self._job = job or Ceiling()
        self._day = day or Ceiling()
        self._price = price_of(self.identity, prices)
        for ceiling in (self._job, self._day):
            self._check_priced(ceiling)
        self._spent = Spending()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Spending:
        """What went through this meter, calls under way at the most they can take."""
        return self._spent

    def complete(
        self, messages: Sequence[ChatMessage], *, schema: JsonSchema | None = None, max_tokens: int | None = None
    ) -> Completion:
        """Return the model's answer; raise CostCeilingReached instead of asking, or what the model raises."""
        limit = max_tokens or _ESTIMATE.max_tokens
        reserved = self._reserve(messages, limit, extra=str(schema or ""))
        took = reserved.most
        try:
            answer = self._model.complete(messages, schema=schema, max_tokens=limit)
            took = self._counted(answer.usage)
        except ModelError as error:
            took = self._of_failure(error, reserved.most)
            raise
        finally:
            self._settle(reserved, took)
        return answer

    def stream(self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None) -> ReplyStream:
        """Return the model's answer piece by piece; what is not read to its end is counted by what was read."""
        return ReplyStream(self._pieces(messages, max_tokens or _ESTIMATE.max_tokens))

    def _pieces(self, messages: Sequence[ChatMessage], limit: int) -> Generator[str, None, Completion]:
        reserved = self._reserve(messages, limit)
        took = reserved.most
        said: list[str] = []
        try:
            with self._model.stream(messages, max_tokens=limit) as pieces:
                for piece in pieces:
                    said.append(piece)
                    yield piece
            took = self._counted(pieces.completion.usage)
        except ModelError as error:
            took = self._partly(messages, said) if said else self._of_failure(error, reserved.most)
            raise
        except (GeneratorExit, KeyboardInterrupt):  # whoever listened has stopped, here or at the keyboard
            took = self._partly(messages, said)
            raise
        finally:
            self._settle(reserved, took)
        return pieces.completion

    def _reserve(self, messages: Sequence[ChatMessage], limit: int, *, extra: str = "") -> _Reserved:
        tokens_in = _ESTIMATE.estimated(messages, extra)
        most = self._counted(Usage(tokens_in.tokens_in + tokens_in.tokens_out, limit))
        with self._lock:
            if excess := self._job.excess(self._spent, most):
                raise CostCeilingReached(f"this job may take {excess}; raise its ceiling, or give it less to do")
            self._spent += most
        try:
            return self._reserve_day(most)
        except BaseException:
            with self._lock:
                self._spent -= most
            raise

    def _reserve_day(self, most: Spending) -> _Reserved:
        with self._database.write(self._tenant) as transaction:
            day = transaction.now // _DAY
            own = tenant_settings.load(transaction).ceiling
            ceiling = own if own.is_set else self._day
            self._check_priced(ceiling)
            after = model_usage.add(transaction, day=day, model=self.identity, purpose=self._purpose, spent=most)
            if excess := ceiling.excess(after - most, most):
                free_at = (day + 1) * _DAY
                until = f"{datetime.fromtimestamp(free_at / 1e6, UTC):%Y-%m-%d %H:%M} UTC"
                raise CostCeilingReached(
                    f"today {self._tenant!r} may take {excess}; wait until {until}, or raise the ceiling with "
                    "`retentia model ceiling`",
                    free_at=free_at,
                )
        return _Reserved(day, most)

    def _settle(self, reserved: _Reserved, took: Spending) -> None:
        correction = took - reserved.most
        with self._lock:
            self._spent += correction
        # Where the store cannot be written the answer is worth more: what was reserved stays counted.
        with suppress(StoreError), self._database.write(self._tenant) as transaction:
            if correction != Spending():
                model_usage.add(
                    transaction, day=reserved.day, model=self.identity, purpose=self._purpose, spent=correction
                )

    def _counted(self, usage: Usage) -> Spending:
        cost = 0
        if self._price is not None:
            cost = self._price.micros(tokens_in=usage.tokens_in, tokens_out=usage.tokens_out)
        return Spending(calls=1, tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, cost=cost)

    def _partly(self, messages: Sequence[ChatMessage], said: Sequence[str]) -> Spending:
        return self._counted(_ESTIMATE.estimated(messages, "".join(said)))

    def _of_failure(self, error: ModelError, most: Spending) -> Spending:
        """Return what a failed call took: an answer that was useless was paid, and one that came too late may be."""
        match error:
            case ModelReplyInvalid() if error.tokens_in or error.tokens_out:
                return self._counted(Usage(error.tokens_in, error.tokens_out))
            case ModelReplyInvalid() | ModelTimedOut():
                return most
        return Spending(calls=1)

    def _check_priced(self, ceiling: Ceiling) -> None:
        if ceiling.cost is not None and self._price is None:
            raise InvalidInput(f"a ceiling of cost needs a price for {self.identity!r}; add it to the price table")
