"""The command line: all verbs in one app, and errors as one line."""

import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn, cast

import typer

from manyview.cli.bench import bench_app
from manyview.cli.console import print_json, print_text, width
from manyview.cli.options import INTERRUPTED, AsJson, DataDir
from manyview.cli.runs import explain, fit, predict
from manyview.cli.tuning import propose, tune
from manyview.errors import ManyviewError

# Libraries that take long to import (torch, scikit-learn) are imported by the verbs that need them.

app = typer.Typer(
    name="manyview",
    help="Label a whole multi-view data set from a few known labels.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(bench_app)
USER_ERROR = 2
# Base of all usage errors, in the click that this typer carries or stands on.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
# Parameters of the library that are options here, to be named as such in errors.
OPTIONS = re.compile(
    r"\b(views_key|labels_key|graphs_key|samples_in|id_column|label_column|label_ratio|labels"
    r"|abstain_below|annotate|missing)"
    r"(=['\"]|=|(?= must be (?:one|above|a number) | is for | are called))"
)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; errors of the user are one line and exit with 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names a terminal cannot show
    try:
        code = app(arguments, prog_name="manyview", standalone_mode=False)
    except ManyviewError as error:
        code = _fail(str(error))
    except UsageError as error:
        code = _fail(error.format_message(), getattr(error, "ctx", None))
    except typer.Abort:
        code = INTERRUPTED
    if code == INTERRUPTED:
        typer.echo("Interrupted; nothing was written.", err=True)
    sys.exit(code)


@app.callback(invoke_without_command=True)
def top(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.")
    ] = False,
) -> None:
    """Label a whole multi-view data set from a few known labels."""
    if show_version:
        typer.echo(f"manyview {version('manyview')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for verb in (fit, predict, explain, tune, propose):
    app.command()(verb)


@app.command()
def datasets(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Tell all about this one.", show_default=False),
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the data sets known by name, and which are here."""
    from manyview.data.catalog.cards import CATALOG
    from manyview.data.catalog.paths import find_card, is_available
    from manyview.report.listings import card_document, card_text, catalog_text

    cards = list(CATALOG.values()) if name is None else [find_card(name)]
    listed = [(card, is_available(card, data_dir)) for card in cards]
    if as_json:
        documents = [card_document(card, here) for card, here in listed]
        print_json(documents if name is None else documents[0])
    elif name is None:
        print_text(catalog_text(listed))
    else:
        print_text(card_text(*listed[0], width()))


@app.command()
def methods(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Tell of this one alone.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods: paper, cost, whether they label new samples, and their defaults."""
    from manyview.methods import METHODS, find_method
    from manyview.report.listings import method_document, methods_text

    chosen = list(METHODS.values()) if name is None else [find_method(name)]
    if as_json:
        documents = [method_document(method) for method in chosen]
        print_json(documents if name is None else documents[0])
    else:
        print_text(methods_text(chosen, width()))


def _fail(message: str, context: Any = None) -> int:
    text = " ".join(OPTIONS.sub(_as_option, message).split())
    if context is not None:
        text = f"{text.rstrip('.')}. Try: {context.command_path} --help"
    typer.echo(f"Error: {text}", err=True)
    return USER_ERROR


def _as_option(match: re.Match[str]) -> str:
    """`id_column=` becomes `--id-column`, and `id_column='x'` becomes `--id-column 'x'`."""
    value = match[2].removeprefix("=")
    return f"--{match[1].replace('_', '-')}{' ' if value else ''}{value}"
