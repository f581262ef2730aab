"""Times of the page of `manyview label`: from a key press to saved, and to new predictions.

For each number of samples, a client labels over HTTP as the page does. Written to
`results/labeling_times.json`: milliseconds until a label is saved, seconds until predictions know
it, the same as a ratio to one epoch of the fit, and the memory of server and worker after the
first and after the last of 1,000 labels. Nothing else should run on the machine; where something
does, the CPU seconds of the worker say what a fit takes, and `load` how busy the machine was.

    python benchmarks/labeling_times.py [--sizes 2000,20000] [--labels 1000] [--timed 30]
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from statistics import median
from urllib.request import Request, urlopen

import numpy as np
from stored_records import RESULTS

from manyview.data.catalog.synthetic import make_multiview_classification
from manyview.labeling.notebook import label

FILE = RESULTS / "labeling_times.json"
N_CLASSES = 10


def memory(pid):
    """Return the resident memory of a process in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return round(int(line.split()[1]) / 1024, 1)
    return None


def cpu_seconds(pid):
    """Return the CPU seconds that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Person:
    """Labels over HTTP, as the page does."""

    def __init__(self, page, truth):
        self.base, self.token = page.address.split("/?token=")
        self.service, self.truth = page._labeling.service, truth

    def ask(self, path, body=None):
        """Return the answer to a request."""
        data = None if body is None else json.dumps({"window": "w", **body}).encode()
        address = f"{self.base}{path}?token={self.token}&window=w"
        request = Request(address, data, {"Content-Type": "application/json"} if data else {})
        with urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def label_one(self):
        """Label the next sample, or confirm its label; return the milliseconds it took to save."""
        sample = self.ask("/api/next")
        row = sample["row"]
        start = time.perf_counter()
        if sample["reason"] == "again":
            self.ask("/api/keep", {"row": row})
        else:
            body = {"rows": [row], "label": str(self.truth[row]), "source": "key", "seen": [None]}
            self.ask("/api/label", body)
        return 1000 * (time.perf_counter() - start)

    def wait(self):
        """Return the seconds until predictions know the last label."""
        start = time.perf_counter()
        while self.service.learned.number != self.service.session.number:
            time.sleep(0.01)
        return time.perf_counter() - start


def measure(n_samples, n_labels, n_timed):
    views, truth = make_multiview_classification(
        n_samples, 2, n_classes=N_CLASSES, n_features=32, class_sep=2, random_state=0
    )
    with tempfile.TemporaryDirectory() as folder:
        page = label(views, out=Path(folder) / "run", classes=list(map(str, range(N_CLASSES))))
        person = Person(page, truth)
        try:
            person.wait()
            for _ in range(2 * N_CLASSES):
                person.label_one()
            person.wait()
            pids = {"server": "self", "worker": person.service.worker.pid}
            first = {name: memory(pid) for name, pid in pids.items()}
            saved, learned, ratios, loads, taken = [], [], [], [], []
            for _ in range(n_timed):
                before = cpu_seconds(pids["worker"])
                saved.append(person.label_one())
                learned.append(person.wait())
                taken.append(cpu_seconds(pids["worker"]) - before)
                loads.append(os.getloadavg()[0])
                ratios.append(learned[-1] / max(person.service.learned.epoch_seconds, 1e-9))
            while len(person.service.session.labels) < min(n_labels, n_samples // 2):
                saved.append(person.label_one())
            person.wait()
            last = {name: memory(pid) for name, pid in pids.items()}
            predictions = page.predictions
        finally:
            person.service.close()
            page._server.__exit__(None, None, None)
    return {
        "n_samples": n_samples,
        "n_labels": len(person.service.session.labels),
        "saved_ms": {"median": round(median(saved), 2),
                     "95%": round(float(np.quantile(saved, 0.95)), 2)},
        "predictions_seconds": {"median": round(median(learned), 3),
                                "largest": round(max(learned), 3)},
        "predictions_cpu_seconds": round(median(taken), 3),
        "predictions_per_epoch": round(median(ratios), 1),
        "load": round(median(loads), 1),
        "n_cpus": os.cpu_count(),
        "memory_mb": {"first": first, "last": last},
        "accuracy": round(float(np.mean(predictions == truth)), 4),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="2000,20000", metavar="N,N")
    parser.add_argument("--labels", type=int, default=1000, metavar="N")
    parser.add_argument(
        "--timed", type=int, default=30, metavar="N", help="labels timed one by one"
    )
    parser.add_argument("--out", type=Path, default=FILE, metavar="FILE")
    asked = parser.parse_args()
    rows = []
    for size in asked.sizes.split(","):
        rows.append(measure(int(size), asked.labels, asked.timed))
        print(json.dumps(rows[-1], indent=2))
    asked.out.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
