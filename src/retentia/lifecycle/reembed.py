"""Moving a store to another embedder: a second generation is built beside the serving one, then takes over."""

from retentia.jobs.embed import embed_records
from retentia.model.progress import Progress, unheard
from retentia.providers.base import Embedder
from retentia.store import generations, jobs, passages, scopes
from retentia.store.database import Database
from retentia.store.generations import Generation

_RECORDS_AT_ONCE = 256


def reembed(database: Database, embedder: Embedder, *, progress: Progress = unheard) -> int:
    """Embed every passage with another embedder and let it serve; return how many passages were embedded now.

    The old generation answers until the new one is complete. Interrupting loses nothing: the next call continues.
    Needs no language model and no text but the rows.
    """
    chosen = _begin(database, embedder)
    done = 0
    with database.read("") as transaction:
        tenants = jobs.tenants(transaction)
    if chosen.state == "building":
        while made := sum(_fill(database, tenant, chosen, embedder, progress) for tenant in tenants):
            done += made
        with database.write("") as transaction:
            generations.serve(transaction, chosen)
    prune(database)
    return done


def prune(database: Database) -> None:
    """Remove the vectors of generations that no longer serve."""
    with database.read("") as transaction:
        old = generations.retired(transaction)
        tenants = jobs.tenants(transaction) if old else []
    for gone in old:
        for tenant in tenants:
            with database.write(tenant) as transaction:
                for scope_id, _ in scopes.all_scopes(transaction):
                    passages.delete_generation(transaction, scope_id, gone.id)
        with database.write("") as transaction:
            generations.drop(transaction, gone.id)


def _begin(database: Database, embedder: Embedder) -> Generation:
    identity = embedder.identity.to_json()
    with database.write("") as transaction:
        now_serving = generations.serving(transaction)
        if now_serving is not None and now_serving.identity == identity:
            return now_serving
        unfinished = generations.building(transaction)
        if unfinished is not None and unfinished.identity == identity:
            return unfinished
        if unfinished is not None:
            generations.retire(transaction, unfinished)
        return generations.begin(transaction, identity, "building")


def _fill(database: Database, tenant: str, chosen: Generation, embedder: Embedder, progress: Progress) -> int:
    """Embed what one tenant lacks in a generation; return how many passages."""
    done = 0
    with database.read(tenant) as transaction:
        named = scopes.all_scopes(transaction)
    for scope_id, _ in named:
        after = b""
        while True:
            with database.read(tenant) as transaction:
                ids = passages.without_vector(transaction, scope_id, chosen.id, limit=_RECORDS_AT_ONCE, after=after)
            if not ids:
                break
            made = embed_records(database, tenant, scope_id, ids, chosen.id, embedder)
            after = ids[-1]
            done += made
            progress(made)
    return done
