"""Inject markup, scripts and formulas through every name that a page shows: none may take effect.

Sample ids, classes, views (file names) and columns get names that want to break out. The page of
the run must have the scripts, event handlers and addresses of a page with plain names and no
others, show the names as text, and the table of predictions must return the ids unchanged. A third
of the cases are pages of studies, whose titles, entries and data have such names.
"""

import csv
import json
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from tests.soak.campaign import Limits, Violation, main, shared_folder
from tests.soak.commands import Ended, preload, run
from tests.soak.forked import fork_workers
from tests.soak.plans import as_toml

BREAKING = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "<a href=javascript:alert(1)>x</a>",
    "<!--",
    "-->",
    "]]>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "{{7*7}}",
    "{% raw %}",
    "${7*7}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\\u003cscript\\u003e",
    "=HYPERLINK(1)",
    "=cmd|'C calc'!A0",
    "+1+1",
    "@SUM(1)",
    "\u202ealert",
    "x\u2028alert(1)",
    "[red]x[/red]",
)
PLAIN = tuple(f"plain{number}" for number in range(len(BREAKING)))
N_SAMPLES = 40
STUDIED = ("knn", "label-spreading")
ADDRESSES = ("href", "src", "action", "formaction", "xlink:href", "data", "srcdoc")
ACTIVE = ("script", "iframe", "object", "embed", "base", "link", "meta", "form", "foreignobject")


@dataclass
class Active(HTMLParser):
    """What could act in a page: scripts with their text, handlers, addresses; and its text."""

    found: list[tuple[str, ...]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    _inside: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ACTIVE:
            self.found.append(("element", tag))
        for name, value in attrs:
            is_inner = name in ADDRESSES and (value or "").startswith("#")
            if name.startswith("on") or (name in ADDRESSES and not is_inner):
                self.found.append(("attribute", tag, name, value or ""))
        is_data = tag == "script" and ("type", "application/json") in attrs
        self._inside = "data" if is_data else tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.found.append(("code", self._inside, data))
        elif self._inside == "data":  # no browser runs it, as long as nothing in it is markup
            self.found += [("markup in data", sign) for sign in "<>&" if sign in data]
            self.text.append(json.dumps(json.loads(data), ensure_ascii=False))
        else:
            self.text.append(data)


def active_parts(page: str) -> Active:
    """Return what could act in a page."""
    parser = Active()
    parser.feed(page)
    parser.close()
    return parser


def write_tables(folder: Path, names: tuple[str, ...], rng: np.random.Generator) -> list[str]:
    """Write two tables and their labels with these names; return the ids."""
    chosen = [str(name) for name in rng.permutation(names)]
    views, classes = [name.replace("/", "|") for name in chosen[:2]], chosen[2:4]
    ids = [f"{chosen[row % len(chosen)]}{row}" for row in range(N_SAMPLES)]
    y = np.arange(N_SAMPLES) % 2
    for number, view in enumerate(views):
        values = rng.normal(size=(N_SAMPLES, 3)) + 3 * y[:, None]
        with (folder / f"{view}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", *(f"{name}{number}" for name in chosen[4:7])])
            writer.writerows([name, *row] for name, row in zip(ids, values.tolist(), strict=True))
    with (folder.parent / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "label"])
        writer.writerows([name, classes[y[row]]] for row, name in enumerate(ids[:8]))
    return ids


def make_page(folder: Path, names: tuple[str, ...], rng: np.random.Generator) -> tuple[str, Path]:
    """Fit tables with these names; return the page and the folder of the run."""
    tables = folder / "tables"
    tables.mkdir()
    ids = write_tables(tables, names, rng)
    words = ("--labels", "labels.csv", "-p", "max_epochs=3", "--out", "run", "--quiet")
    ended = run(folder, "fit", "tables", *words)
    if ended.code:
        raise Violation("refused", ended.err)
    with (folder / "run" / "predictions.csv").open(newline="", encoding="utf-8") as file:
        written = [row["sample_id"] for row in csv.DictReader(file)]
    if sorted(written) != sorted(ids):
        raise Violation("other ids", f"{set(ids) ^ set(written)}")
    return (folder / "run" / "report.html").read_text(encoding="utf-8"), folder / "run"


def make_study_page(folder: Path, names: tuple[str, ...], rng: np.random.Generator) -> str:
    """Run a study whose title, description, entries and data have these names; return its page."""
    # Plans refuse control characters.
    chosen = [str(name) for name in rng.permutation([one for one in names if one.isprintable()])]
    data = folder / f"{chosen[0].replace('/', '|')}.npz"
    y = np.arange(N_SAMPLES) % 2
    np.savez(data, **{f"{name}.".replace("/", "|"): rng.normal(size=(N_SAMPLES, 3)) + 3 * y[:, None]
                      for name in chosen[1:3]}, y=y)  # fmt: skip
    entries = {
        name: {"method": method, "title": title}
        for name, title, method in zip(chosen[3:5], chosen[5:7], STUDIED, strict=True)
    }
    plan = folder / "plan.toml"
    lines = {"title": chosen[7], "about": chosen[8], "datasets": [str(data)], "seeds": [0, 1]}
    text = "\n".join(f"{key} = {as_toml(value)}" for key, value in lines.items())
    plan.write_text(f"{text}\nlabel_ratios = [0.2]\nmethods = {as_toml(entries)}\n")
    words = ("plan.toml", "--out", "store", "--quiet")
    _succeeded(run(folder, "bench", "run", *words, "--jobs", "1", before=fork_workers))
    records = (folder / "store" / "records.jsonl").read_text().splitlines()
    if any(json.loads(line)["status"] != "done" for line in records):
        raise Violation("refused", records[-1])
    _succeeded(run(folder, "bench", "report", *words[:3], "--file", "page.html"))
    return (folder / "page.html").read_text(encoding="utf-8")


def _succeeded(ended: Ended) -> None:
    if ended.code:
        raise Violation("refused", f"{ended.code}: {ended.err}")


def prepare(shared: Path) -> None:
    """Make the pages with plain names."""
    page, _ = make_page(shared, PLAIN, np.random.default_rng(0))
    (shared / "plain.html").write_text(page, encoding="utf-8")
    study = make_study_page(shared, PLAIN, np.random.default_rng(0))
    (shared / "plain-study.html").write_text(study, encoding="utf-8")


def check_page(page: str, plain: str) -> None:
    """Compare what is active in a page with breaking names and in the one with plain names."""
    expected = active_parts((shared_folder() / plain).read_text(encoding="utf-8"))
    found = active_parts(page)
    if found.found != expected.found:
        other = [one for one in found.found if one not in expected.found]
        raise Violation("active content", f"{other[:5]}")
    if "alert(1)" not in " ".join(found.text):
        raise Violation("names lost", "no name is shown as text")


def case(rng: np.random.Generator, folder: Path) -> str:
    """Check the page of a run or of a study."""
    if rng.random() < 1 / 3:
        check_page(make_study_page(folder, BREAKING, rng), "plain-study.html")
        return "page of a study held"
    page, made = make_page(folder, BREAKING, rng)
    check_page(page, "plain.html")
    explained = run(folder, "explain", made, "--json").check(0)
    if "alert(1)" not in explained.out + page:
        raise Violation("names lost", explained.out)
    return "page of a run held"


if __name__ == "__main__":
    preload()
    sys.exit(main("pages", case, n_cases=100, limits=Limits(seconds=180), prepare=prepare))
