"""Options that several verbs of the command line share, and what they come to."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from manyview.runs.sources import DataSource

INTERRUPTED = 130  # exit code after Ctrl-C

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="A name of `manyview datasets`, a .mat, .npz, .h5mu or .h5ad file, a folder of "
        "tables, or several tables (CSV, TSV, Parquet) or .npy arrays, one view each.",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="File of labels, joined on sample ids; blank or -1 is unknown."
    ),
]
DataDir = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Folder of the catalog's files, if not MANYVIEW_DATA."),
]
ViewsKey = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help=".mat, .npz: variable of the views; .h5mu: place of a view, "
        "such as rna or rna/obsm/X_pca; may be repeated.",
    ),
]
LabelsKey = Annotated[
    str | None, typer.Option(metavar="NAME", help=".mat, .npz: variable of the labels.")
]
GraphsKey = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=".mat, .npz: variable of graphs given as views; .h5mu: place "
        "of one, such as obsp/distances.",
    ),
]
SamplesIn = Annotated[
    str | None, typer.Option(metavar="rows|columns", help="Where the samples are, if not clear.")
]
IdColumn = Annotated[
    str | None, typer.Option(metavar="NAME", help="Tables: column of the sample ids.")
]
LabelColumn = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Tables: column of the labels; .h5mu: column of .obs."),
]
Protocol = Annotated[
    str,
    typer.Option(metavar="stratified|random", help="How --label-ratio draws: by class or not."),
]
Method = Annotated[str, typer.Option(metavar="NAME", help="A name of `manyview methods`.")]
AbstainBelow = Annotated[
    float | None,
    typer.Option(
        metavar="P", help="Write `unknown` for predictions of a probability below this, 0 to 1."
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder `manyview fit` left.")]


@dataclass(frozen=True)
class DataOptions:
    """How to read DATA: options that every verb with data has."""

    data_dir: DataDir = None
    views_key: ViewsKey = None
    labels_key: LabelsKey = None
    graphs_key: GraphsKey = None
    samples_in: SamplesIn = None
    id_column: IdColumn = None
    label_column: LabelColumn = None

    def source(
        self, data: list[str], labels: str | None = None, missing: str | None = None
    ) -> "DataSource":
        """Put together where the data are and how to read them."""
        from manyview.data.io.reading import ReadOptions
        from manyview.runs.sources import DataSource

        keys = self.views_key
        options = ReadOptions(
            views_key=keys[0] if keys and len(keys) == 1 else keys or None,
            labels_key=self.labels_key,
            graphs_key=self.graphs_key,
            samples_in=self.samples_in,
            id_column=self.id_column,
            label_column=self.label_column,
            missing=missing,
        )
        return DataSource(tuple(data), labels, self.data_dir, options)


NO_OPTIONS = DataOptions()


def with_data_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Offer each field of the verb's parameter `data_options` as an option, in its place.

    typer makes options of single parameters alone, so it is shown a signature without it.
    """
    own = inspect.signature(verb).parameters
    fields = inspect.signature(DataOptions).parameters
    shown: dict[str, inspect.Parameter] = {}
    for name, parameter in own.items():
        shown |= fields if name == "data_options" else {name: parameter}

    @wraps(verb)
    def called(**values: Any) -> None:
        data_options = DataOptions(**{name: values.pop(name) for name in fields})
        verb(data_options=data_options, **values)

    called.__annotations__ = {name: one.annotation for name, one in shown.items()}
    vars(called)["__signature__"] = inspect.Signature(list(shown.values()))
    return called
