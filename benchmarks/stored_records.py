"""Records of a study: one JSON line per fit, stored at once, so that nothing is run twice.

A record names its data set and its setting (the key of the study), and ends with a checksum. Ctrl-C
loses only the fit that is running; the next call continues from there.
"""

import json
import sys
from pathlib import Path

from rich.console import Console

from manyview.data.catalog.load import load_dataset
from manyview.errors import DataFileError
from manyview.experiments.records import read_line, with_checksum
from manyview.runs.records import score

RESULTS = Path(__file__).parent.parent / "results"


def read(file):
    """Return the records of a file, an empty list where there is none; stop at a damaged one."""
    records = []
    for number, line in enumerate(file.read_text().splitlines() if file.exists() else [], 1):
        try:
            records.append(read_line(line)[0])
        except ValueError as error:
            raise DataFileError(
                f"Line {number} of {file} is damaged: {error}. Remove it, and run its study again."
            ) from error
    return records


def scores(predictions, truth, counts):
    """Return accuracy, balanced accuracy and macro-F1 on the samples that count."""
    found = score(predictions, truth, counts)
    names = ("accuracy", "balanced_accuracy", "macro_f1")
    return {name: round(getattr(found, name), 6) for name in names}


def accuracy_text(record):
    """Write the accuracy of a record in percent."""
    return f"{record['accuracy']:.1%}"


def add_missing(file, names, key, settings, run, summarize=accuracy_text, load=None):
    """Append what `run` returns for every data set and setting without a record.

    Parameters
    ----------
    key
        Names of the parts of a setting, such as ("label_ratio", "seed").
    run
        Called with the data set and the parts of a setting; returns one record or several,
        without data set and setting.
    summarize
        Called with what `run` returned; returns a few words to print.
    load
        Called with a name; returns the data set. None loads those of the catalog.
    """
    console = Console(highlight=False)
    done = {tuple(record[part] for part in ("dataset", *key)) for record in read(file)}
    try:
        for name in names:
            wanted = [setting for setting in settings if (name, *setting) not in done]
            dataset = (load or load_dataset)(name) if wanted else None
            for setting in wanted:
                found = run(dataset, *setting)
                head = {"dataset": name, **dict(zip(key, setting, strict=True))}
                records = [
                    {**head, **one, "sha256": dataset.sha256}
                    for one in (found if isinstance(found, list) else [found])
                ]
                with file.open("a") as out:
                    lines = (json.dumps(with_checksum(record)) for record in records)
                    out.write("".join(f"{line}\n" for line in lines))
                console.print(f"{name} {', '.join(map(str, setting))}: {summarize(found)}")
    except KeyboardInterrupt:
        console.print("stopped; the next call continues from here")
        sys.exit(130)
