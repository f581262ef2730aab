"""Options that several verbs of the command line share, and what they come to."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    typer.Option(metavar="DIR", help="Folder of the catalogue's files, if not MANYVIEW_DATA."),
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
        metavar="P", help="Write `unknown` for answers of a probability below this, 0 to 1."
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder `manyview fit` left.")]


def source_of(
    data: list[str],
    labels: str | None,
    data_dir: str | None,
    views_key: list[str] | None,
    *options: str | None,
) -> "DataSource":
    """Put together where the data are and how to read them."""
    from manyview.data.reading import ReadOptions
    from manyview.runs.sources import DataSource

    keys = views_key[0] if views_key and len(views_key) == 1 else views_key or None
    return DataSource(tuple(data), labels, data_dir, ReadOptions(keys, *options))
