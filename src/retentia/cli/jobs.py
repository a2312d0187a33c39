"""Commands for queued work: worker, jobs."""

import signal
import threading

import click

from retentia.cli.options import Target, targeted
from retentia.cli.output import print_json, print_table
from retentia.model.ids import RecordId


@click.command()
@click.option("--once", is_flag=True, help="Do what is due, also what lost its job or has expired, and end.")
@targeted
def worker(target: Target, once: bool) -> None:
    """Run queued work of every tenant until stopped with Ctrl-C or SIGTERM."""
    with target.open(worker=not once) as memory:
        if once:
            memory.sweep()
            memory.keeping.upkeep()
            done = memory.drain()
            click.echo(f"done: {done:,} jobs", err=True)
            return
        click.echo("working; stop with Ctrl-C", err=True)
        stopped = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        stopped.wait()
        click.echo("finishing the work at hand", err=True)


@click.command()
@click.option("--retry", multiple=True, metavar="ID", help="Queue a job again.")
@click.option("--cancel", multiple=True, metavar="ID", help="Give a job up for good.")
@targeted
def jobs(target: Target, retry: tuple[str, ...], cancel: tuple[str, ...]) -> None:
    """List a tenant's unfinished jobs, or retry or cancel some."""
    with target.open() as memory:
        for job_id in retry:
            memory.retry_job(RecordId(job_id), tenant=target.tenant)
        for job_id in cancel:
            memory.cancel_job(RecordId(job_id), tenant=target.tenant)
        found = memory.jobs(tenant=target.tenant)
    if target.as_json:
        print_json(
            [
                {
                    "id": job.id,
                    "kind": job.kind,
                    "state": job.state,
                    "records": len(job.record_ids),
                    "attempts": job.attempts,
                    "error": job.error,
                }
                for job in found
            ]
        )
        return
    rows = [(job.id, job.kind, job.state, len(job.record_ids), job.attempts, job.error) for job in found]
    print_table(f"jobs of {target.tenant}", ("id", "kind", "state", "records", "attempts", "last error"), rows)
