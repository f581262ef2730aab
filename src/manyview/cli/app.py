"""The command line: all verbs in one app; user errors are printed as one line."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer

from manyview.cli.bench import bench_app
from manyview.cli.compare import compare
from manyview.cli.completion import complete_datasets, complete_methods
from manyview.cli.config import Config, origin_of, read_config
from manyview.cli.console import print_json, print_notice, print_table, print_text, width
from manyview.cli.labeling import label
from manyview.cli.options import (
    ARGUMENTS,
    INTERRUPTED,
    AsJson,
    DataDir,
    Verbose,
    argument,
    examples,
    exit_codes,
    make_app,
)
from manyview.cli.run_lists import runs_app
from manyview.cli.runs import audit, explain, fit, predict, propose
from manyview.cli.tuning import tune
from manyview.distributed.launch import FAILED_ELSEWHERE
from manyview.errors import (
    InputError,
    ManyviewError,
    ProcessError,
    is_out_of_memory,
    out_of_memory,
)
from manyview.system.files import finished_paths
from manyview.system.interrupts import interrupted_code, interrupts_raised

# Libraries that take long to import (torch, scikit-learn) are imported by the verbs that need them.

app = make_app(
    "manyview",
    "Label a whole multi-view data set from a few known labels.",
    "manyview fit digits --label-ratio 0.02",
    "manyview fit --help",
    epilog=exit_codes(),
    pretty_exceptions_enable=False,
)
HELP = ("-h", "--help")
USER_ERROR = 2
CLOSED_PIPE = 141  # as if SIGPIPE had ended it
# Base of all usage errors, in the click that this typer carries or stands on.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
EXAMPLES = {
    fit: (
        "manyview fit digits --label-ratio 0.02",
        "manyview fit images.csv texts.csv --labels labels.csv --out runs/mine",
    ),
    predict: (
        "manyview predict runs/mine new/images.csv new/texts.csv",
        "manyview predict runs/mine new --out labels.csv --abstain-below 0.8",
    ),
    explain: (
        "manyview explain runs/mine",
        "manyview explain runs/mine --sample s17",
    ),
    audit: (
        "manyview audit runs/mine",
        "manyview audit runs/mine --out doubts.csv",
    ),
    label: (
        "manyview label digits",
        "manyview label tables --labels labels.csv --images photos --out runs/mine",
    ),
    tune: (
        "manyview tune tables --labels labels.csv --minutes 30",
        "manyview tune digits --label-ratio 0.1 -p hidden=32 --candidates 10",
    ),
    compare: (
        "manyview compare digits --label-ratio 0.05 --methods manyview,ssgcn",
        "manyview compare tables --labels labels.csv --out compare/mine",
    ),
    propose: (
        "manyview propose runs/mine -n 20 --out to_label.csv",
        "manyview propose runs/mine --strategy uncertainty",
    ),
}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; a user error is one line and exit code 2.

    Ctrl-C, SIGTERM and SIGHUP end it with one line and 128 + the number of the signal: 130, 143,
    129. A closed pipe ends it without a line and with 141.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names a terminal cannot show
    with finished_paths() as finished:
        try:
            with interrupts_raised():
                code = _run(arguments)
        except KeyboardInterrupt:
            code = interrupted_code()
            with suppress(OSError):
                typer.echo(_interrupted(arguments, finished), err=True)
    sys.exit(code)


def _run(arguments: Sequence[str]) -> int:
    try:
        code = app(arguments, prog_name="manyview", standalone_mode=False, obj=tuple(arguments))
        if sys.stdout is not None:
            sys.stdout.flush()  # now, where an error can still be reported
        if code == INTERRUPTED:  # typer returns it for a KeyboardInterrupt
            raise KeyboardInterrupt
    except ManyviewError as error:
        code = _fail(as_typed(error, arguments))
        if isinstance(error, ProcessError):
            code = FAILED_ELSEWHERE
    except UsageError as error:
        context = getattr(error, "ctx", None)
        file = origin_of(context, getattr(error, "param", None), arguments)
        hint = "" if context is None else f" Try: {context.command_path} --help"
        hint = hint if file is None else f" It is set in {file}."
        message = error.format_message()
        code = _fail(f"{message}{'' if message.endswith(('.', '?', '!')) else '.'}{hint}")
    except typer.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        code = _drop_output()
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        code = _drop_output()
    except OSError as error:
        code = _fail(_system_error(error))
    except (MemoryError, ImportError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        code = _fail(out_of_memory(error))
    except UnicodeEncodeError as error:
        code = _fail(
            f"{error.object!a} has characters that the locale's encoding, {error.encoding}, does "
            "not have. Set the environment variable PYTHONUTF8=1, or a UTF-8 locale."
        )
    return code or 0


def _interrupted(arguments: Sequence[str], finished: Sequence[Path]) -> str:
    if arguments and arguments[0] in ("tune", "bench", "compare"):
        return "Interrupted; what was recorded is kept, and the same command continues."
    if arguments and arguments[0] == "label":
        return "Interrupted; every label is kept, and the same command continues."
    if finished:
        return f"Interrupted, but {finished[-1]} is written and complete."
    return "Interrupted; nothing was written."


def _system_error(error: OSError) -> str:
    """Describe an error of the system that no part of the program expected."""
    if error.filename is None:  # printing is all that names no file
        _drop_output()
        return f"The output could not be written: {error.strerror or error}."
    return f"{os.fsdecode(error.filename)}: {error.strerror or error}."


def _drop_output() -> int:
    """Send what is still to be printed nowhere, so that nothing fails at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED_PIPE


@app.callback(invoke_without_command=True)
def top(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.")
    ] = False,
    no_config: Annotated[
        bool, typer.Option("--no-config", help="Read no manyview.toml and no pyproject.toml.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="As -v of the command.")] = False,
) -> None:
    """Label a whole multi-view data set from a few known labels."""
    if show_version:
        typer.echo(f"manyview {version('manyview')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        return
    context.meta[ARGUMENTS] = context.obj
    wants_help = any(word in HELP for word in context.obj or ())
    config = Config() if no_config or wants_help else read_config(context.command)
    config = config.with_verbose(context.command) if verbose else config
    context.obj, context.default_map = config, config.defaults


for verb, commands in EXAMPLES.items():
    app.command(epilog=examples(*commands))(verb)


@app.command(epilog=examples("manyview datasets", "manyview datasets bbcsports"))
def datasets(
    name: Annotated[
        str | None, argument("NAME", "Show details of one data set.", complete_datasets)
    ] = None,
    data_dir: DataDir = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """List the data sets of the catalog and which files are present."""
    from manyview.data.catalog.cards import CATALOG
    from manyview.data.catalog.paths import find_card, is_available
    from manyview.report.listings import (
        CATALOG_ALIGN,
        CATALOG_HEADER,
        card_document,
        card_text,
        catalog_rows,
    )

    cards = list(CATALOG.values()) if name is None else [find_card(name)]
    listed = [(card, is_available(card, data_dir)) for card in cards]
    if as_json:
        documents = [card_document(card, here) for card, here in listed]
        print_json(documents if name is None else documents[0])
    elif name is None:
        print_table(CATALOG_HEADER, catalog_rows(listed), CATALOG_ALIGN)
    else:
        print_text(card_text(*listed[0], width()))


@app.command(epilog=examples("manyview methods", "manyview methods mgcn-dns"))
def methods(
    name: Annotated[
        str | None, argument("NAME", "Show details of one method.", complete_methods)
    ] = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """List the methods: paper, cost and default parameters."""
    from manyview.methods import METHODS, find_method
    from manyview.report.listings import method_document, methods_text

    chosen = list(METHODS.values()) if name is None else [find_method(name)]
    if as_json:
        documents = [method_document(method) for method in chosen]
        print_json(documents if name is None else documents[0])
    else:
        print_text(methods_text(chosen, width()))


app.add_typer(runs_app)
app.add_typer(bench_app)


def as_typed(error: ManyviewError, arguments: Sequence[str]) -> str:
    """Return the message of an error with parameters named as the user types them.

    The parameter at fault is an option of the verb, or else set with -p. Keyword arguments in
    hints of the readers become options: `id_column='x'` becomes `--id-column 'x'`.
    """
    from manyview.data.io.reading import ReadOptions

    text, options = str(error), _options(arguments)
    hinted = {"labels", *vars(ReadOptions())} & options.keys()
    if isinstance(error, InputError) and error.parameter is not None:
        name = error.parameter.rpartition("__")[2]
        options = {name: f"-p {name}"} | options
        rest = text.removeprefix(f"{name} ")
        text = f"{options[name]}: {text}" if rest == text else f"{options[name]} {rest}"
        hinted.add(name)
    for name in hinted:
        start, *values = text.split(f" {name}=")
        text = start + "".join(
            f" {options[name]}{'' if value[:1] in ('', *' .,;)') else ' '}{value}"
            for value in values
        )
    return text


def _options(arguments: Sequence[str]) -> dict[str, str]:
    """Return the options of the verb in the arguments, by the parameters they stand for."""
    command: Any = typer.main.get_command(app)
    for word in arguments:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    spelled = [max(one.opts, key=len) for one in command.params if one.opts[0].startswith("-")]
    names = {option.lstrip("-").replace("-", "_"): option for option in spelled}
    return {f"n_{name}": option for name, option in names.items()} | names


def _fail(message: str) -> int:
    with suppress(OSError):  # a full disk; the exit code still says it
        print_notice("Error", " ".join(message.split()), "bold red")
    return USER_ERROR
