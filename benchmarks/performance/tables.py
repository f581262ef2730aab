"""The tables of docs/performance.md, one function a section."""

import json
from typing import Any

import numpy as np

from manyview.methods import METHODS
from performance import whole_job
from performance.block_clock import BLOCKS, SELECTION
from performance.epoch import FORMS, OURS, TUTORIAL
from performance.formats import NOT_YET, memory, ratio, seconds, spread, table
from performance.growth import exponent
from performance.stored import FOLDER

Row = dict[str, Any]


def document(name: str) -> dict[str, Any]:
    """Return the stored file of a benchmark; one without rows where there is none."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {"rows": []}


def rows_of(name: str) -> list[Row]:
    """Rows by size, the largest last."""
    return sorted(document(name)["rows"], key=lambda row: row["request"].get("n_samples", 0))


def done(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.get("status", "done") == "done"]


def size_of(row: Row) -> str:
    return f"{row['request']['n_samples']:,}"


def epoch() -> str:
    lines, said = [], []
    for row in rows_of("epoch"):
        if row["status"] != "done":
            lines.append([size_of(row), row["reason"], "", ""])
            continue
        lines.append([size_of(row), OURS, spread(row["seconds"][OURS]), ""])
        for form in FORMS:
            mark = " (its fastest)" if form == row["fastest"] else ""
            share = row["ratio"][form]
            by_round = share["by_round"]
            lines.append(
                ["", form + mark, spread(row["seconds"][form]),
                 f"{ratio(share['of_medians'])} [{ratio(by_round['low'])} to "
                 f"{ratio(by_round['high'])}]"]
            )  # fmt: skip
        said.append(
            f"At {size_of(row)} samples ({row['n_edges']:,} edges) an epoch of MGCN-DNS costs "
            f"{ratio(row['ratio'][TUTORIAL]['of_medians'])} of PyG's as in its tutorial, and "
            f"{ratio(row['ratio'][row['fastest']]['of_medians'])} of PyG's in its fastest form."
        )
    text = table("samples|form|an epoch|ours / this one", lines, n_words=2)
    return with_figure(text, "epoch", "An epoch of MGCN-DNS over one of PyG's", said)


def dense() -> str:
    lines = []
    for row in rows_of("dense"):
        ours, literal = row["ours"], row["dense"]
        if "times_faster" not in row:
            reason = literal.get("reason") or ours.get("reason")
            lines.append([size_of(row), "", reason, "", "", "", "", ""])
            continue
        lines.append([
            size_of(row),
            seconds(ours["seconds"]["median"]), seconds(literal["seconds"]["median"]),
            ratio(row["times_faster"]),
            memory(ours["training_mb"]), memory(literal["training_mb"]),
            ratio(row["times_less_memory"]), ratio(row["times_less_memory_over_all"]),
        ])  # fmt: skip
    return table(
        "samples|ours|dense|times faster|ours, training|dense, training|times less memory|"
        "times less over all",
        lines,
    )


def whole_jobs() -> str:
    rows = rows_of("whole-job")
    lines = []
    for size in dict.fromkeys(row["request"]["n_samples"] for row in rows):
        ours = None
        for method in whole_job.METHODS:
            of_method = [
                row
                for row in rows
                if row["request"]["n_samples"] == size and row["request"]["method"] == method
            ]
            title = METHODS[method].card.title
            finished = done(of_method)
            if not finished:
                reasons = [row["reason"] for row in of_method] or ["not measured yet"]
                lines.append([f"{size:,}", title, reasons[0], "", "", ""])
                continue
            taken = float(np.median([row["seconds"] for row in finished]))
            ours = taken if method == whole_job.METHODS[0] else ours
            peak = float(np.median([row["peak_mb"] for row in finished]))
            times = ratio(taken / ours) if ours else ""
            accuracy = f"{100 * finished[0]['accuracy']:.1f}"
            lines.append([f"{size:,}", title, seconds(taken), times, memory(peak), accuracy])
    return table("samples|method|time|ratio|memory|accuracy", lines, n_words=2)


def growth() -> str:
    rows = rows_of("growth")
    lines = []
    for row in rows:
        if row["status"] != "done":
            lines.append([size_of(row), row["reason"], *[""] * 7])
            continue
        lines.append([
            size_of(row), f"{row['n_edges']:,}", seconds(row["seconds"]["graphs"]),
            seconds(row["epoch"]["median"]), seconds(row["seconds"]["whole"]),
            memory(row["graphs_mb"]), memory(row["peak_mb"]), f"{100 * row['accuracy']:.1f}",
            f"{100 * min(row['recall'].values()):.1f}" if row["recall"] else "",
        ])  # fmt: skip
    finished = done(rows)
    said = []
    if len(finished) > 1:
        sizes = [row["request"]["n_samples"] for row in finished]
        powers = {
            "building the graphs": [row["seconds"]["graphs"] for row in finished],
            "an epoch": [row["epoch"]["median"] for row in finished],
            "peak memory": [row["peak_mb"] for row in finished],
        }
        grown = ", ".join(f"{name} {exponent(sizes, all_):.2f}" for name, all_ in powers.items())
        said.append(
            f"Fitted exponents from {sizes[0]:,} to {sizes[-1]:,} samples (1 is linear): {grown}."
        )
        last = finished[-1]
        said.append(
            f"The largest fit, {size_of(last)} samples, took "
            f"{last['seconds']['whole'] / 60:.1f} minutes and {memory(last['peak_mb'])}, and "
            f"labels {100 * last['accuracy']:.1f} % of the unlabeled samples right."
        )
    text = table(
        "samples|edges|graphs|an epoch|whole fit|memory of graphs|peak memory|accuracy|recall",
        lines,
    )
    return with_figure(text, "growth", "Growth of time and memory with the samples", said)


def blocks() -> str:
    rows = done(rows_of("growth"))
    lines = [[size_of(row), *(f"{100 * row['blocks'][b]:.0f} %" for b in BLOCKS)] for row in rows]
    said = []
    if rows:
        most = max(rows, key=lambda row: row["blocks"][SELECTION])
        said.append(
            f"Node selection takes most at {size_of(most)} samples: "
            f"{100 * most['blocks'][SELECTION]:.0f} % of an epoch."
        )
    text = table("|".join(("samples", *BLOCKS)), lines)
    return with_figure(text, "blocks", "Share of each block in an epoch", said)


def bandwidth() -> str:
    lines = []
    for row in done(rows_of("growth")):
        found = row["bandwidth"]
        lines.append([
            size_of(row), f"{max(found['copy'], found['triad']):.1f} GB/s",
            f"{found['product']:.1f} GB/s", f"{100 * found['share']:.0f} %",
            f"{found['product_gathered']:.1f} GB/s", f"{100 * found['share_gathered']:.0f} %",
        ])  # fmt: skip
    return table("samples|memory|product, must move|share|product, fetched|share", lines)


def ranking() -> str:
    lines = []
    for row in rows_of("ranking"):
        name = row["request"]["dataset"]
        if row["status"] != "done":
            lines.append([name, row["reason"], "", "", ""])
            continue
        lines.append([
            name, f"{len(row['seeds'])}",
            f"{np.mean(row['accuracy']['exact']):.2f}", f"{np.mean(row['accuracy']['fast']):.2f}",
            f"{row['difference']:+.2f}", f"{row['largest']:.2f}",
        ])  # fmt: skip
    return table("data set|seeds|exact|fast|mean difference|largest of a seed", lines)


def small() -> str:
    lines = []
    for row in rows_of("small"):
        if "ratio" not in row:
            lines.append([row["request"]["dataset"], row["reason"], "", "", ""])
            continue
        rounds, epochs = row["ratio_by_round"], row["n_epochs"]
        lines.append([
            row["request"]["dataset"],
            spread(row["seconds"]["now"]), spread(row["seconds"]["before"]),
            f"{ratio(row['ratio'])} [{ratio(rounds['low'])} to {ratio(rounds['high'])}]",
            f"{epochs['now']} / {epochs['before']}",
        ])  # fmt: skip
    return table("data set|now|before|now / before|epochs now / before", lines)


def imports() -> str:
    lines = [
        [f"`{case}`", spread(one)]
        for row in rows_of("imports")
        for case, one in row["seconds"].items()
    ]
    return table("in a fresh process, warm|time", lines)


def with_figure(text: str, name: str, title: str, said: list[str]) -> str:
    if text == NOT_YET:
        return text
    figure = [f"![{title}](performance-{name}.svg)"] if name in figure_rows() else []
    return "\n\n".join([*([" ".join(said)] if said else []), text, *figure])


def figure_rows() -> dict[str, list[Row]]:
    """Rows that each figure shows; figures without any are left out."""
    grown = done(rows_of("growth"))
    found = {"epoch": done(rows_of("epoch")), "growth": grown, "blocks": grown}
    return {name: rows for name, rows in found.items() if rows}
