"""docs/performance.md and its figures, from the stored rows alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from figure_files import svg_text
from rich.console import Console

from manyview.system.files import write_whole
from performance import plots, scale, tables, whole_job
from performance.formats import NOT_YET
from performance.isolated import ROOT

TEMPLATE = ROOT / "benchmarks" / "templates" / "performance.md"
DOCS = ROOT / "docs"
BENCHMARKS = (
    "whole-job",
    "cross-fit",
    "large-data",
    "busy",
    "imports",
    "neighbors",
    "small",
    "small-jobs",
    "epoch",
    "dense",
    "growth",
    "ranking",
)
LONG = ("processes", "five-million")  # measured when asked for by name


def page() -> str:
    """Return the text of docs/performance.md."""
    return TEMPLATE.read_text().format(
        answer=tables.answer(),
        growth_figure=tables.figure("growth"),
        machines=machines(),
        epoch=tables.epoch(),
        dense=tables.dense(),
        minutes=whole_job.MINUTES,
        memory=whole_job.MEMORY_GB,
        whole_job=tables.whole_jobs(),
        cross_fit=tables.cross_fit(),
        large_data=tables.large_data(),
        busy=tables.busy(),
        growth=tables.growth(),
        blocks=tables.blocks(),
        bandwidth=tables.bandwidth(),
        ranking=tables.ranking(),
        before=_befores("small"),
        small=tables.small(),
        small_jobs=tables.small_jobs(),
        before_jobs=_befores("small-jobs"),
        neighbors=tables.neighbors(),
        imports=tables.imports(),
    )


def _befores(benchmark: str) -> str:
    befores = {row["request"]["before"] for row in tables.rows_of(benchmark)}
    return ", ".join(sorted(befores)) or "not measured yet"


def how_far() -> str:
    """Return the text of docs/how-far.md."""
    return scale.page(machines(("growth", *LONG)))


def machines(names: Sequence[str] = BENCHMARKS) -> str:
    """Name every machine once, with the benchmarks by the checksum of the code they measured."""
    by_machine: dict[str, dict[str, list[str]]] = {}
    for name in names:
        stored = tables.document(name)
        if stored["rows"]:
            by_code = by_machine.setdefault(_machine_text(stored), {})
            by_code.setdefault(stored["code"], []).append(name)
    parts = [
        "\n".join(
            [
                f"{text}\n",
                *(f"- code {code}: {', '.join(names)}" for code, names in by_code.items()),
            ]
        )
        for text, by_code in by_machine.items()
    ]
    return "\n\n".join(parts) or NOT_YET


def _machine_text(stored: dict[str, Any]) -> str:
    machine = stored["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    threads = f"{machine['threads']} thread{'s' if machine['threads'] > 1 else ''}"
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {threads}, {machine['memory_gb']:.0f} GB; "
        f"Python {machine['python']}, {versions}."
    )


def figures() -> dict[Path, str]:
    """Return the text of every figure, by its path."""
    draw = {
        "epoch": plots.epoch_figure,
        "growth": plots.growth_figure,
        "blocks": plots.blocks_figure,
    }
    return {
        DOCS / f"performance-{name}.svg": svg_text(draw[name](rows), plots.description(rows))
        for name, rows in tables.figure_rows().items()
    }


def write() -> None:
    """Write the page and its figures."""
    console = Console(stderr=True)
    texts = {DOCS / "performance.md": page(), DOCS / "how-far.md": how_far(), **figures()}
    for path, text in texts.items():
        write_whole(path, text)
        console.print(f"wrote {path}")
