"""Options that several verbs have in common, grouped in dataclasses."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyview.cli.console import print_json, print_text
from manyview.errors import InputError
from manyview.system.paths import expand_user

if TYPE_CHECKING:
    from manyview.runs.settings import RunSettings
    from manyview.runs.sources import DataSource

INTERRUPTED = 130  # exit code after Ctrl-C


def option(metavar: str, text: str, *names: str) -> Any:
    """Declare an option with a value; its name is the parameter's unless names are given."""
    return typer.Option(*names, metavar=metavar, help=text)


def argument(metavar: str, text: str) -> Any:
    """Declare a positional argument."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


def path_option(metavar: str, text: str, *names: str) -> Any:
    """Declare an option that names a file or a folder, with ~ for the home folder."""
    return typer.Option(*names, metavar=metavar, help=text, parser=_user_path)


def path_argument(metavar: str, text: str) -> Any:
    """Declare a positional argument that names a file or a folder."""
    return typer.Argument(metavar=metavar, help=text, show_default=False, parser=_user_path)


def _user_path(path: str | Path) -> Path:
    try:
        return expand_user(path)
    except InputError as error:  # typer names the option; of a ValueError it keeps only the value
        raise typer.BadParameter(str(error)) from error


def examples(*commands: str) -> str:
    """Lay out the examples at the end of a verb's help, one command per line."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


def make_app(name: str, text: str, *commands: str, **settings: Any) -> typer.Typer:
    """Return a group of verbs whose help is plain text and ends with examples."""
    return typer.Typer(
        name=name,
        help=text,
        epilog=examples(*commands),
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
    ),
]
Run = Annotated[Path, path_argument("RUN", "A folder written by `manyview fit`.")]
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
    as_json: AsJson = False

    @property
    def has_text(self) -> bool:
        """Whether text is printed."""
        return not (self.quiet or self.as_json)

    def show(
        self, document: Callable[[], Any], text: Callable[[], str], *, err: bool = False
    ) -> None:
        """Print a result as one JSON document, as text, or not at all."""
        if self.as_json:
            print_json(document())
        elif not self.quiet:
            print_text(text(), err=err)


@dataclass(frozen=True)
class ModelOptions:
    """Options that choose the labels a method sees, the method and its parameters."""

    labels: Labels = None
    label_ratio: Annotated[
        float | None, option("R", "Use only this fraction of the labels and hide the others.")
    ] = None
    protocol: Annotated[
        str, option("stratified|random", "Draw the labels per class, or from all samples.")
    ] = "stratified"
    seed: Annotated[int, option("S", "Random seed for the split and the model.")] = 0
    method: Annotated[str, option("NAME", "A name from `manyview methods`.")] = "manyview"
    param: Annotated[
        list[str] | None,
        option("NAME=VALUE", "Set a parameter of the method; may be repeated.", "-p", "--param"),
    ] = None
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
        """Return the settings of a run; options and parameters set with -p override `params`."""
        from manyview.runs.settings import RunSettings, parse_params

        given = {} if self.missing is None else {"missing": self.missing}
        params = {**(params or {}), **given, **parse_params(self.param or [])}
        return RunSettings(
            source=data_options.source(data, self.labels, params.get("missing")),
            method=self.method,
            params=params,
            label_ratio=self.label_ratio,
            protocol=self.protocol,
            seed=self.seed,
            **settings,
        )


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
