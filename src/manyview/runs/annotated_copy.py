"""A copy of an `.h5mu` or `.h5ad` file with a run's results; the file itself stays unchanged."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from manyview.data.annotated import is_mudata
from manyview.data.io.annotated_files import load_annotated
from manyview.data.io.paths import ANNOTATED_SUFFIXES
from manyview.errors import InputError
from manyview.integrations.omics import annotate
from manyview.system.files import whole_file

COPY_STEM = "results"


def check_annotated(names: Sequence[str]) -> None:
    """Refuse data other than one `.h5mu` or `.h5ad` file."""
    if len(names) != 1 or Path(names[0]).suffix.casefold() not in ANNOTATED_SUFFIXES:
        raise InputError(
            f"annotate is for one {' or '.join(ANNOTATED_SUFFIXES)} file; got {', '.join(names)}. "
            "The predictions are in predictions.csv in any case.",
            parameter="annotate",
        )


def write_annotated_copy(
    source: Path, folder: Path, model: Any, sample_ids: Sequence[str], below: float | None
) -> None:
    """Write `results.h5mu`, or `.h5ad`: the content of the source and the results."""
    data = load_annotated(source)
    annotate(data, model, sample_ids=sample_ids, min_probability=below or 0.0)
    target = folder / f"{COPY_STEM}{source.suffix.casefold()}"
    with whole_file(target) as temporary, catch_warnings():
        simplefilter("ignore")  # the library announces its own changes
        if is_mudata(data):
            data.write_h5mu(temporary)
        else:
            data.write_h5ad(temporary)
