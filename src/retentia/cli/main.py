"""`retentia`: the commands, and the border where errors become one line for a person."""

import sys

import click

from retentia import __version__
from retentia.cli.advise import advise
from retentia.cli.audit import audit_group
from retentia.cli.backup import backup
from retentia.cli.chat.command import chat
from retentia.cli.diagnosis import amnesia, check_claims
from retentia.cli.episodes import changes, close, episodes, open_items, procedures, remembered
from retentia.cli.eval import eval_group
from retentia.cli.experience import experience_group
from retentia.cli.export import export
from retentia.cli.facts import confirm, correct, history, inbox, narrow, profile, reject, retract
from retentia.cli.forgetting import forget, forget_person, ledger, verify_erasure
from retentia.cli.hold import hold_group
from retentia.cli.ingest import ingest
from retentia.cli.jobs import jobs, worker
from retentia.cli.keeping import growth, keep, personal, policy, quota, retention, review
from retentia.cli.model import model_group
from retentia.cli.prompt import context, why
from retentia.cli.reading import listing, recall, show
from retentia.cli.removing import consolidate, custody, removed, restore_removed
from retentia.cli.tool_selection import tools_group
from retentia.cli.upkeep import doctor, encrypt, init, reembed, reindex, rekey, repair, stats
from retentia.cli.writing import erase, remember
from retentia.errors import RetentiaError

_INTERRUPTED = 130
_FAILED = 1


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="retentia")
def cli() -> None:
    """Memory for AI agents: keep what was said, recall it in milliseconds, say where it comes from."""


for command in (
    init,
    chat,
    ingest,
    export,
    remember,
    recall,
    context,
    why,
    show,
    listing,
    profile,
    inbox,
    confirm,
    reject,
    correct,
    narrow,
    retract,
    history,
    episodes,
    open_items,
    close,
    procedures,
    remembered,
    changes,
    erase,
    forget,
    forget_person,
    removed,
    restore_removed,
    verify_erasure,
    ledger,
    hold_group,
    custody,
    backup,
    personal,
    review,
    keep,
    retention,
    quota,
    growth,
    policy,
    consolidate,
    tools_group,
    experience_group,
    stats,
    doctor,
    amnesia,
    check_claims,
    advise,
    repair,
    encrypt,
    rekey,
    reindex,
    reembed,
    worker,
    jobs,
    model_group,
    audit_group,
    eval_group,
):
    cli.add_command(command)


def main() -> None:
    """Run a command; an error of ours is one line with what to do, never a traceback."""
    try:
        code = cli.main(standalone_mode=False)  # the code of an Exit, or what the command returned
    except click.exceptions.Abort:
        click.echo("interrupted; what was written stays, run the command again to go on", err=True)
        sys.exit(_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(_FAILED)
    except RetentiaError as error:
        click.echo(f"retentia: {error}", err=True)
        sys.exit(_FAILED)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
