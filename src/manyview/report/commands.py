"""Commands that a report names, ready for a shell."""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from manyview.runs.settings import RunSettings


def fit_command(asked: RunSettings, params: Path | None = None) -> str:
    """Return the command that labels the data of these settings; `params` is a tuning.json.

    Examples
    --------
    >>> from manyview.runs.sources import DataSource
    >>> fit_command(RunSettings(DataSource(("my data.npz",)), method="knn", label_ratio=0.1))
    "manyview fit 'my data.npz' --label-ratio 0.1 --method knn"
    """
    words = ["manyview", "fit", *asked.source.names]
    given = {
        "labels": asked.source.labels,
        "data-dir": asked.source.data_dir,
        **{k.replace("_", "-"): v for k, v in vars(asked.source.options).items()},
        "label-ratio": asked.label_ratio,
        "protocol": None if asked.protocol == "stratified" else asked.protocol,
        "seed": asked.seed or None,
        "method": None if asked.method == "manyview" else asked.method,
        "params": params,
    }
    for name, value in given.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                words += [f"--{name}", str(one)]
    return shlex.join(words)


def run_command(verb: str, folder: Path, *words: str) -> str:
    """Return a command about the run in a folder; `words` are its options.

    Examples
    --------
    >>> run_command("propose", Path("my runs"), "-n 10", "--out", "next.csv")
    "manyview propose 'my runs' -n 10 --out next.csv"
    """
    options = [part for word in words for part in (word.split() if word[:1] == "-" else [word])]
    return shlex.join(["manyview", verb, str(folder), *options])


def add_labels_command(asked: RunSettings, file: Path, folder: Path) -> str:
    """Return the command that fits again into `folder`, with the labels of one more file.

    Empty where the labels are in the data themselves: a file of labels would replace them.

    Examples
    --------
    >>> from manyview.runs.sources import DataSource
    >>> asked = RunSettings(DataSource(("farm",), labels="a.csv"))
    >>> add_labels_command(asked, Path("next.csv"), Path("runs/2"))
    'manyview fit farm --labels a.csv --labels next.csv --out runs/2'
    """
    given = asked.source.label_files()
    if not given:
        return ""
    source = replace(asked.source, labels=[*given, str(file)])
    params = {
        name: value
        for name, value in asked.params.items()
        if (name, value) != ("missing", asked.source.options.missing)  # an option of its own
    }
    texts = [f"{name}={param_text(value)}" for name, value in params.items()]
    options = shlex.join([*(word for text in texts for word in ("-p", text)), "--out", str(folder)])
    return f"{fit_command(replace(asked, source=source))} {options}"


def param_text(value: Any) -> str:
    """Write the value of a parameter as -p reads it.

    Examples
    --------
    >>> [param_text(value) for value in (0.5, None, "unit", {"cow": 2, 7: 1}, ["a", 1])]
    ['0.5', 'none', 'unit', '{"cow" = 2, "7" = 1}', '["a", 1]']
    """
    if isinstance(value, dict):
        pairs = (f"{json.dumps(str(name))} = {param_text(one)}" for name, one in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, str):
        return value
    return "none" if value is None else json.dumps(value)


def next_folder(folder: Path) -> Path:
    """Return the folder of the run after this one: the same name with a number, or the next.

    Examples
    --------
    >>> next_folder(Path("runs/mine")).as_posix(), next_folder(Path("runs/mine-9")).as_posix()
    ('runs/mine-2', 'runs/mine-10')
    """
    name, dash, number = folder.name.rpartition("-")
    is_numbered = bool(dash and name and number.isdecimal())
    return folder.with_name(f"{name}-{int(number) + 1}" if is_numbered else f"{folder.name}-2")


def settings_lines(asked: RunSettings) -> list[str]:
    r"""Describe the settings of a run: what is read, the method, its parameters and the seed.

    Examples
    --------
    >>> from manyview.runs.sources import DataSource
    >>> asked = RunSettings(DataSource(("digits",)), params={"hidden": 32})
    >>> print("\n".join(settings_lines(asked)))
    Data: digits
    Method: manyview, with hidden=32; seed 0
    """
    source = asked.source
    options = source.describe()
    names = ", ".join([*map(str, source.paths())] or source.names)
    given = ", ".join(f"{name}={one}" for name, one in options.items() if name != "names")
    params = ", ".join(f"{name}={value}" for name, value in asked.params.items())
    return [
        f"Data: {names}{f' ({given})' if given else ''}",
        f"Method: {asked.method}, with {params or 'its defaults'}; seed {asked.seed}",
    ]
