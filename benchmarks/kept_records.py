"""Records of a study: one JSON line each, kept at once, so that nothing is done twice.

A record names its data set and its setting (the key of the study); what the file holds is not
done again, and Ctrl-C loses the fit at work only.
"""

import json
import sys

from rich.console import Console

from manyview.data.catalog.load import load_dataset


def read(file):
    lines = file.read_text().splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


def add_missing(file, names, key, settings, run, tell, load=None):
    """Append what `run` finds for every data set and setting without a record.

    Parameters
    ----------
    key
        Names of the parts of a setting, such as ("ratio", "seed").
    run
        Called with the data set and the parts of a setting; returns one record or several,
        without data set and setting.
    tell
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
                    out.write("".join(json.dumps(record) + "\n" for record in records))
                console.print(f"{name} {', '.join(map(str, setting))}: {tell(found)}")
    except KeyboardInterrupt:
        console.print("stopped; the next call goes on from here")
        sys.exit(130)
