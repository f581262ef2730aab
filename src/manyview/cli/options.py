"""Options that several verbs have in common, grouped in dataclasses."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyview.cli.completion import (
    Completer,
    choices_of,
    complete_data,
    complete_methods,
    complete_parameters,
    complete_runs,
)
from manyview.cli.config import merge_named, say_config
from manyview.cli.console import print_json, print_text
from manyview.errors import InputError
from manyview.system.paths import expand_user

if TYPE_CHECKING:
    from manyview.runs.settings import RunSettings
    from manyview.runs.sources import DataSource

INTERRUPTED = 130  # exit code after Ctrl-C
ARGUMENTS = "manyview.arguments"  # where a context has the words of the command
EXIT_CODES = {
    "0": "done",
    "1": "damaged records (bench check), or an error of manyview itself",
    "2": "a mistake in the command or the data, in one line",
    "3": "another process of a fit that several share has failed",
    "129 130 143": "interrupted by SIGHUP, Ctrl-C or SIGTERM",
    "141": "the reader of the output went away",
}


def option(metavar: str, text: str, *names: str, complete: Completer | None = None) -> Any:
    """Declare an option with a value; its name is the parameter's unless names are given.

    Options that are repeated as NAME=VALUE are added to those of the configuration file.
    """
    return typer.Option(
        *names,
        metavar=metavar,
        help=text,
        autocompletion=complete or choices_of(metavar),
        callback=merge_named if metavar.startswith("NAME=") else None,
    )


def argument(metavar: str, text: str, complete: Completer | None = None) -> Any:
    """Declare a positional argument."""
    return typer.Argument(metavar=metavar, help=text, show_default=False, autocompletion=complete)


def path_option(metavar: str, text: str, *names: str) -> Any:
    """Declare an option that names a file or a folder, with ~ for the home folder."""
    return typer.Option(*names, metavar=metavar, help=text, parser=_user_path)


def path_argument(metavar: str, text: str, complete: Completer | None = None) -> Any:
    """Declare a positional argument that names a file or a folder."""
    return typer.Argument(
        metavar=metavar,
        help=text,
        show_default=False,
        parser=_user_path,
        autocompletion=complete,
    )


def arguments_of(context: typer.Context) -> Sequence[str]:
    """Return the words of the command after `manyview`."""
    arguments: Sequence[str] | None = context.meta.get(ARGUMENTS)
    return sys.argv[1:] if arguments is None else arguments


def _user_path(path: str | Path) -> Path:
    try:
        return expand_user(path)
    except InputError as error:  # typer names the option; of a ValueError it keeps only the value
        raise typer.BadParameter(str(error)) from error


def examples(*commands: str) -> str:
    """Lay out the examples at the end of a verb's help, one command per line."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


def exit_codes() -> str:
    """Lay out the exit codes for the help of the whole command line."""
    lines = (f"  {code:<13}{meaning}" for code, meaning in EXIT_CODES.items())
    return "\n".join(["\b", "Exit codes:", *lines])


def make_app(
    name: str, text: str, *commands: str, epilog: str = "", **settings: Any
) -> typer.Typer:
    """Return a group of verbs whose help is plain text and ends with examples and an epilog."""
    return typer.Typer(
        name=name,
        help=text,
        epilog="\n\n".join(filter(None, [examples(*commands), epilog])),
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


Data = Annotated[
    list[str],
    argument(
        "DATA",
        "A name from `manyview datasets`, a .mat, .npz, .h5mu or .h5ad file, a folder of tables, "
        "or several tables (CSV, TSV, Excel, Parquet, Feather) or .npy arrays, one per view.",
        complete_data,
    ),
]
Run = Annotated[Path, path_argument("RUN", "A folder written by `manyview fit`.", complete_runs)]
Labels = Annotated[
    list[str] | None,
    option(
        "FILE",
        "Table of labels, joined by sample id; blank or -1 is unknown. May be repeated.",
    ),
]
DataDir = Annotated[
    str | None, option("DIR", "Folder of the catalog's files, instead of MANYVIEW_DATA.")
]
AbstainBelow = Annotated[
    float | None,
    option("P", "Write `unknown` for predictions with a probability below P (0 to 1)."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Print more to standard error: the configuration file, settings and progress.",
        callback=say_config,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]


@dataclass(frozen=True)
class DataOptions:
    """Options for reading DATA."""

    data_dir: DataDir = None
    views_key: Annotated[
        list[str] | None,
        option(
            "NAME",
            ".mat, .npz: variable with the views; .h5mu: a view, such as rna or rna/obsm/X_pca. "
            "May be repeated.",
        ),
    ] = None
    labels_key: Annotated[str | None, option("NAME", ".mat, .npz: variable with the labels.")] = (
        None
    )
    graphs_key: Annotated[
        str | None,
        option("NAME", ".mat, .npz: variable with graphs as views; .h5mu: such as obsp/distances."),
    ] = None
    samples_in: Annotated[
        str | None, option("rows|columns", "Whether samples are rows or columns, if unclear.")
    ] = None
    id_column: Annotated[str | None, option("NAME", "Tables: column of sample ids.")] = None
    label_column: Annotated[
        str | None, option("NAME", "Tables: column of labels; .h5mu: column of .obs.")
    ] = None
    ignore: Annotated[
        list[str] | None,
        option("FILE", "Folder: a file to leave out; workbook: BOOK.xlsx/SHEET. May be repeated."),
    ] = None

    columns: Annotated[
        list[str] | None,
        option(
            "NAME=KIND",
            "Tables: read a column as number, category, boolean, date or text. May be repeated.",
        ),
    ] = None

    def source(
        self,
        data: list[str],
        labels: str | list[str] | None = None,
        missing: str | None = None,
    ) -> "DataSource":
        """Return where the data are and how to read them."""
        from manyview.data.io.reading import ReadOptions
        from manyview.runs.sources import DataSource

        options: dict[str, Any] = {**vars(self), "missing": missing}
        del options["data_dir"]
        options["views_key"] = _one_or_all(self.views_key)
        return DataSource(tuple(data), _one_or_all(labels), self.data_dir, ReadOptions(**options))


def _one_or_all(values: str | list[str] | None) -> str | list[str] | None:
    """Return the value of an option that may be repeated: None, one value, or a list."""
    return values[0] if isinstance(values, list) and len(values) == 1 else values or None


@dataclass(frozen=True)
class OutputOptions:
    """Options for printing results."""

    quiet: Quiet = False
    verbose: Verbose = False
    as_json: AsJson = False

    @property
    def has_text(self) -> bool:
        """Whether text is printed."""
        return not (self.quiet or self.as_json)

    def note(self, *lines: str) -> None:
        """Print lines to standard error, with -v."""
        for line in lines if self.verbose else ():
            typer.echo(line, err=True)

    def show(
        self, document: Callable[[], Any], text: Callable[[], str], *, err: bool = False
    ) -> None:
        """Print a result as one JSON document, as text, or not at all."""
        if self.as_json:
            print_json(document())
        elif not self.quiet:
            print_text(text(), err=err)


@dataclass(frozen=True)
class SplitOptions:
    """Options that choose the labels a method sees."""

    labels: Labels = None
    label_ratio: Annotated[
        float | None, option("R", "Use only this fraction of the labels and hide the others.")
    ] = None
    protocol: Annotated[
        str, option("stratified|random", "Draw the labels per class, or from all samples.")
    ] = "stratified"
    seed: Annotated[int, option("S", "Random seed for the split and the model.")] = 0
    missing: Annotated[
        str | None,
        option(
            "error|impute",
            "Refuse single missing cells, or fill in the mean of the column; any method "
            "(-p missing=impute). Samples without a whole view are not filled in.",
        ),
    ] = None

    def settings(
        self,
        data: list[str],
        data_options: DataOptions,
        params: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> "RunSettings":
        """Return the settings of a run; the options override `params`."""
        from manyview.runs.settings import RunSettings

        given = {} if self.missing is None else {"missing": self.missing}
        params = {**(params or {}), **given, **self.own_params()}
        return RunSettings(
            source=data_options.source(data, self.labels, params.get("missing")),
            params=params,
            label_ratio=self.label_ratio,
            protocol=self.protocol,
            seed=self.seed,
            **settings,
        )

    def own_params(self) -> dict[str, Any]:
        """Return the parameters of the method that options set by name."""
        return {}


@dataclass(frozen=True)
class ModelOptions(SplitOptions):
    """Options that choose the labels a method sees, the method and its parameters."""

    method: Annotated[
        str, option("NAME", "A name from `manyview methods`.", complete=complete_methods)
    ] = "manyview"
    param: Annotated[
        list[str] | None,
        option(
            "NAME=VALUE",
            "Set a parameter of the method; may be repeated.",
            "-p",
            "--param",
            complete=complete_parameters,
        ),
    ] = None

    def settings(
        self,
        data: list[str],
        data_options: DataOptions,
        params: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> "RunSettings":
        """Return the settings of a run; options and parameters set with -p override `params`."""
        return super().settings(data, data_options, params, method=self.method, **settings)

    def own_params(self) -> dict[str, Any]:
        """Return the parameters that are set with -p."""
        from manyview.runs.settings import parse_params

        return parse_params(self.param or [])


def with_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter of a verb that is a dataclass of options by the options themselves.

    typer reads options from single parameters, so it gets a signature of these alone.
    """
    flat: dict[str, inspect.Parameter] = {}
    groups: dict[str, tuple[type, list[str]]] = {}
    for name, parameter in inspect.signature(verb).parameters.items():
        group = parameter.annotation
        if isinstance(group, type) and is_dataclass(group):
            fields = inspect.signature(group).parameters
            groups[name] = (group, list(fields))
            flat |= fields
        else:
            flat[name] = parameter

    @wraps(verb)
    def called(**values: Any) -> None:
        grouped = {
            name: group(**{field: values.pop(field) for field in fields})
            for name, (group, fields) in groups.items()
        }
        verb(**grouped, **values)

    called.__annotations__ = {name: one.annotation for name, one in flat.items()}
    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in flat.values()]
    vars(called)["__signature__"] = inspect.Signature(parameters)
    return called
