"""Everything that can go wrong, as one tree.

RetentiaError
├── InvalidInput            the caller can correct it
│   ├── InvalidScope
│   ├── InvalidMoment
│   ├── InvalidFilter
│   ├── EmptyContent
│   ├── ErasedEarlier
│   ├── ContentTooLarge
│   ├── QuotaExceeded
│   └── BudgetTooSmall
├── AccessDenied            the principal has no right to it
├── NotFound
├── Conflict                someone else was faster
├── StoreError              the database or its file
│   ├── StoreUnavailable
│   ├── StoreBusy
│   ├── StoreReadOnly
│   ├── StoreFull
│   ├── StoreCorrupt
│   ├── NotARetentiaStore
│   ├── NewerSchema
│   ├── MigrationChanged
│   ├── NetworkFileSystem
│   ├── WrongKey
│   ├── ContentKeyLost      the key of a scope is gone, and with it what was said there
│   ├── LedgerMissing
│   ├── LedgerDamaged
│   ├── StoreBehindLedger
│   └── BackupDamaged
├── IndexStale              the derived part: rebuilding from rows helps
│   ├── EmbedderMismatch
│   └── AnalyzerMismatch
├── EmbeddingFailed
├── ModelError              the chat model gave no answer that can be used
│   ├── ModelUnavailable    the same call may succeed later
│   │   └── ModelTimedOut
│   ├── ModelRejected       the same call will not succeed
│   ├── ModelReplyInvalid   it answered, but not with what was asked for
│   └── CostCeilingReached
├── AuditUnavailable        what must be logged could not be
├── SummaryFailed           a session was not summarised; its messages stay
├── JobLost                 a lease was taken over by another worker
└── MissingExtra            an optional package is not installed

The docstring of a class is its default message; `code` is what interfaces show to programs.
"""


class RetentiaError(Exception):
    """Something went wrong in retentia."""

    code = "error"

    def __str__(self) -> str:
        return super().__str__() or (self.__doc__ or "").strip()


class InvalidInput(RetentiaError):
    """The input cannot be used as it is."""

    code = "invalid_input"


class InvalidScope(InvalidInput):
    """A scope needs a tenant and a user."""

    code = "invalid_scope"


class InvalidMoment(InvalidInput):
    """The time could not be understood; use ISO 8601, such as 2026-06-01T19:00:00+02:00, 2026-06 or 2026."""

    code = "invalid_moment"


class InvalidFilter(InvalidInput):
    """The filter could not be understood."""

    code = "invalid_filter"


class EmptyContent(InvalidInput):
    """There is nothing to remember: the content is empty."""

    code = "empty_content"


class ErasedEarlier(InvalidInput):
    """It was erased, and the same source may not bring it back; say it anew, without its key, to keep it again."""

    code = "erased_earlier"


class ContentTooLarge(InvalidInput):
    """The content is larger than one record may be; add it as a document or in pieces."""

    code = "content_too_large"


class QuotaExceeded(InvalidInput):
    """The user has as much as the tenant's quota allows; forget something, or raise it with `retentia quota`."""

    code = "quota_exceeded"


class BudgetTooSmall(InvalidInput):
    """The token budget does not even hold the role and the current request."""

    code = "budget_too_small"


class AccessDenied(RetentiaError):
    """There is no right to this; the refusal is in the audit log."""

    code = "access_denied"


class AuditUnavailable(RetentiaError):
    """The audit log could not be written."""

    code = "audit_unavailable"


class NotFound(RetentiaError):
    """No such record in this scope."""

    code = "not_found"


class Conflict(RetentiaError):
    """The record was changed by someone else in the meantime; read it again and repeat the change."""

    code = "conflict"


class StoreError(RetentiaError):
    """The store could not do what was asked."""

    code = "store_error"


class StoreUnavailable(StoreError):
    """The store cannot be reached."""

    code = "store_unavailable"


class StoreBusy(StoreError):
    """Another process is writing for too long; try again."""

    code = "store_busy"


class StoreReadOnly(StoreError):
    """The store cannot be written; check the permissions of the file and of its folder."""

    code = "store_read_only"


class StoreFull(StoreError):
    """The disk is full; nothing was written. Free some space and repeat the call."""

    code = "store_full"


class StoreCorrupt(StoreError):
    """The database file is damaged; restore a backup, or copy it and run `retentia doctor`."""

    code = "store_corrupt"


class NotARetentiaStore(StoreError):
    """The file is not a retentia store; choose another path."""

    code = "not_a_retentia_store"


class NewerSchema(StoreError):
    """The store was written by a newer version of retentia; upgrade retentia to open it."""

    code = "newer_schema"


class MigrationChanged(StoreError):
    """A migration was edited after it was applied; reinstall retentia."""

    code = "migration_changed"


class NetworkFileSystem(StoreError):
    """SQLite's write-ahead log needs a local disk; move the file, or use PostgreSQL."""

    code = "network_file_system"


class WrongKey(StoreError):
    """The store is encrypted with another key; give the one it was made with."""

    code = "wrong_key"


class ContentKeyLost(StoreError):
    """The content key of a scope is gone: what is left of its content cannot be read. Restore a backup, or erase it."""

    code = "content_key_lost"


class LedgerMissing(StoreError):
    """The ledger of erasures is gone, so nothing would keep erased records from coming back."""

    code = "ledger_missing"


class LedgerDamaged(StoreError):
    """The ledger of erasures was changed, or belongs to another store."""

    code = "ledger_damaged"


class StoreBehindLedger(StoreError):
    """The store holds records that were erased after it was copied; erase them again with `retentia ledger replay`."""

    code = "store_behind_ledger"


class BackupDamaged(StoreError):
    """The file is no backup, or was changed since it was made; use another one."""

    code = "backup_damaged"


class IndexStale(RetentiaError):
    """The index does not fit the rows; `retentia reindex` rebuilds it."""

    code = "index_stale"


class EmbedderMismatch(IndexStale):
    """The store was indexed by another embedder; open it with that one, or run `retentia reembed --to NAME`."""

    code = "embedder_mismatch"


class AnalyzerMismatch(IndexStale):
    """The store was indexed by another version of the tokenizer; run `retentia reindex`."""

    code = "analyzer_mismatch"


class EmbeddingFailed(RetentiaError):
    """The embedder did not answer; the text is kept and will be embedded later."""

    code = "embedding_failed"


class SummaryFailed(RetentiaError):
    """The summary could not be made; the messages stay as they are, and it will be tried again."""

    code = "summary_failed"


class ModelError(RetentiaError):
    """The chat model gave no answer that can be used."""

    code = "model_error"
    is_retryable = False


class ModelUnavailable(ModelError):
    """The chat model cannot be asked now; try again later."""

    code = "model_unavailable"
    is_retryable = True

    def __init__(self, message: str = "", *, retry_after_seconds: float = 0.0) -> None:
        super().__init__(*filter(None, [message]))
        self.retry_after_seconds = retry_after_seconds


class ModelTimedOut(ModelUnavailable):
    """The chat model did not answer in time; try again, or raise the time limit."""

    code = "model_timed_out"


class ModelRejected(ModelError):
    """The chat model refused the request; check the model's name, the key and the length of the text."""

    code = "model_rejected"

    def __init__(self, message: str = "", *, status: int = 0, unsupported: str = "", too_long: bool = False) -> None:
        super().__init__(*filter(None, [message]))
        self.status = status
        self.too_long = too_long
        self.unsupported = unsupported  # the field of the request that the server does not know, where it says so


class ModelReplyInvalid(ModelError):
    """The chat model answered with something else than was asked for; ask again.

    `reply` is the whole answer, for asking again and for tests: it holds what people said, so it is no part of the
    message and belongs into no log and no job. The tokens were spent all the same.
    """

    code = "model_reply_invalid"
    is_retryable = True

    def __init__(self, message: str = "", *, reply: str = "", tokens_in: int = 0, tokens_out: int = 0) -> None:
        super().__init__(message or "the chat model answered with something else than was asked for; ask again")
        self.reply = reply
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out


class CostCeilingReached(ModelError):
    """The ceiling for model calls is reached; raise it, or wait until it is free again."""

    code = "cost_ceiling_reached"

    def __init__(self, message: str = "", *, free_at: int | None = None) -> None:
        super().__init__(*filter(None, [message]))
        self.free_at = free_at


class JobLost(RetentiaError):
    """The job's lease ended and another worker took it over; this result was dropped."""

    code = "job_lost"


class MissingExtra(RetentiaError):
    """An optional package is missing."""

    code = "missing_extra"

    def __init__(self, extra: str) -> None:
        super().__init__(f"this needs an optional package: pip install 'retentia[{extra}]'")
