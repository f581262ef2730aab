"""The tables of docs/performance.md, one function per section."""

import json
from typing import Any

import numpy as np
from formatting import and_list, fold

from performance import large_data as large_data_module
from performance import whole_job
from performance.block_clock import BLOCKS, SELECTION
from performance.epoch import FORMS, OURS, TUTORIAL
from performance.formats import NOT_YET, memory, ratio, seconds, spread, table
from performance.growth import exponent
from performance.stored import FOLDER

Row = dict[str, Any]
NEIGHBORS = {
    "exact": "{n_samples:,} × {n_features}, {metric}; scikit-learn's brute force",
    "text": "{n_samples:,} documents × {n_words:,} words, cosine; scikit-learn's brute force",
    "approximate": "three views of {n_samples:,} × 32, cosine; pynndescent's defaults",
    "startup": "`manyview fit digits --label-ratio 0.02`; `import torch, sklearn`",
}


def document(name: str) -> dict[str, Any]:
    """Return the stored file of a benchmark, without rows where there is none."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {"rows": []}


def rows_of(name: str) -> list[Row]:
    """Return the rows by size, the largest last."""
    return sorted(document(name)["rows"], key=lambda row: row["request"].get("n_samples", 0))


def done(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.get("status", "done") == "done"]


def size_of(row: Row) -> str:
    return f"{row['request']['n_samples']:,}"


def epoch() -> str:
    lines, sentences = [], []
    for row in rows_of("epoch"):
        if row["status"] != "done":
            lines.append([size_of(row), row["reason"], "", ""])
            continue
        lines.append([size_of(row), OURS, spread(row["seconds"][OURS]), ""])
        for form in FORMS:
            mark = " (its fastest)" if form == row["fastest"] else ""
            found = row["ratio"][form]
            by_round = found["by_round"]
            lines.append(
                ["", form + mark, spread(row["seconds"][form]),
                 f"{ratio(found['of_medians'])} [{ratio(by_round['low'])} to "
                 f"{ratio(by_round['high'])}]"]
            )  # fmt: skip
        sentences.append(
            f"At {size_of(row)} samples ({row['n_edges']:,} edges) an epoch of MGCN-DNS takes "
            f"{ratio(row['ratio'][TUTORIAL]['of_medians'])} times as long as PyG's as in its "
            f"tutorial, and {ratio(row['ratio'][row['fastest']]['of_medians'])} times as long as "
            f"PyG's fastest form."
        )
    text = table("samples|form|one epoch|ours / this form", lines, n_words=2)
    return with_sentences(text, sentences, "epoch")


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
        "times less overall",
        lines,
    )


def whole_jobs() -> str:
    lines = []
    for size in dict.fromkeys(row["request"]["n_samples"] for row in rows_of("whole-job")):
        theirs = [whole_job_median(size, whole_job.PYG, *one) for one in WHOLE_JOB_TIMES]
        for method, title in whole_job.TITLES.items():
            rows = _jobs(size, method)
            if not done(rows):
                reason = next((row["reason"] for row in rows), NOT_YET)
                lines.append([f"{size:,}", title, reason, *[""] * 5])
                continue
            cells = []
            for one, their in zip(WHOLE_JOB_TIMES, theirs, strict=True):
                taken = whole_job_median(size, method, *one)
                cells += [
                    seconds(taken) if taken else "",
                    ratio(taken / their) if taken and their else "",
                ]
            peak = float(np.median([row["peak_mb"] for row in done(rows)]))
            accuracy = f"{100 * done(rows)[0]['accuracy']:.1f}"
            lines.append([f"{size:,}", title, *cells, memory(peak), accuracy])
    return table(
        "samples|method|CPU, one thread|of PyG's|wall time, two threads|of PyG's|memory|accuracy",
        lines,
        n_words=2,
    )


# Field of a row, and the number of threads it is shown for.
WHOLE_JOB_TIMES = (("cpu_seconds", 1), ("seconds", 2))


def _jobs(size: int, method: str) -> list[Row]:
    wanted = {"n_samples": size, "method": method}
    return [row for row in rows_of("whole-job") if wanted.items() <= row["request"].items()]


def whole_job_median(size: int, method: str, field: str, n_threads: int) -> float | None:
    """Return the median time of a job; None where it was not measured."""
    rows = [row for row in done(_jobs(size, method)) if row["request"]["n_threads"] == n_threads]
    return float(np.median([row[field] for row in rows])) if rows else None


def large_data() -> str:
    lines = []
    for row in document("large-data")["rows"]:
        request = row["request"]
        name = [request["dataset"], large_data_module.TITLES[request["method"]]]
        if row["status"] != "done":
            lines.append([*name, row["reason"], *[""] * 5])
            continue
        name[0] += f" ({row['n_samples']:,})"
        scores = (row[one] for one in ("accuracy", "balanced_accuracy", "macro_f1"))
        lines.append([
            *name, seconds(row["seconds"]), seconds(row["cpu_seconds"]), memory(row["peak_mb"]),
            *(f"{100 * score:.1f}" for score in scores),
        ])  # fmt: skip
    return table("data|method|wall time|CPU|memory|accuracy|balanced|macro-F1", lines, n_words=2)


def busy() -> str:
    lines = []
    for row in rows_of("busy"):
        if row["status"] != "done":
            lines.append([size_of(row), row["reason"], "", ""])
            continue
        times = (spread(row["seconds"][n_threads]) for n_threads in ("1", "2"))
        lines.append([size_of(row), *times, ratio(row["ratio"])])
    return table("samples|one thread|two threads|two / one", lines)


def growth() -> str:
    rows = rows_of("growth")
    lines = []
    for row in rows:
        if row["status"] != "done":
            lines.append([size_of(row), row["reason"], *[""] * 9])
            continue
        lines.append([
            size_of(row), f"{row['n_neighbors']}", f"{row['n_edges']:,}",
            seconds(row["seconds"]["graphs"]), seconds(row["seconds"]["training"]),
            seconds(row["epoch"]["median"]), seconds(row["seconds"]["whole"]),
            seconds(row["cpu_seconds"]), memory(row["peak_mb"]), f"{100 * row['accuracy']:.1f}",
            f"{100 * min(row['recall'].values()):.1f}" if row["recall"] else "",
        ])  # fmt: skip
    finished = done(rows)
    sentences = []
    if len(finished) > 1:
        sizes = [row["request"]["n_samples"] for row in finished]
        powers = {
            "the whole job": [row["seconds"]["whole"] for row in finished],
            "building the graphs": [row["seconds"]["graphs"] for row in finished],
            "training": [row["seconds"]["training"] for row in finished],
            "peak memory": [row["peak_mb"] for row in finished],
        }
        grown = ", ".join(f"{name} {exponent(sizes, all_):.2f}" for name, all_ in powers.items())
        sentences.append(
            f"Fitted exponents from {sizes[0]:,} to {sizes[-1]:,} samples (1 is linear): {grown}."
        )
        last = finished[-1]
        sentences.append(
            f"The largest fit, {size_of(last)} samples, took "
            f"{last['seconds']['whole'] / 60:.1f} minutes and {memory(last['peak_mb'])}, and "
            f"labeled {100 * last['accuracy']:.1f}% of the unlabeled samples correctly."
        )
    text = table(
        "samples|k|edges|graphs|training|one epoch|whole fit|CPU|peak memory|accuracy|recall",
        lines,
    )
    return with_sentences(text, sentences)


def blocks() -> str:
    rows = done(rows_of("growth"))
    lines = [[size_of(row), *(f"{100 * row['blocks'][b]:.0f}%" for b in BLOCKS)] for row in rows]
    sentences = []
    if rows:
        most = max(rows, key=lambda row: row["blocks"][SELECTION])
        sentences.append(
            f"Node selection takes its largest fraction at {size_of(most)} samples: "
            f"{100 * most['blocks'][SELECTION]:.0f}% of an epoch."
        )
    text = table("|".join(("samples", *BLOCKS)), lines)
    return with_sentences(text, sentences, "blocks")


def bandwidth() -> str:
    lines = [
        [
            size_of(row),
            f"{max(found['copy'], found['triad']):.1f} GB/s",
            *(
                text
                for kind in ("", "_gathered")
                for text in (
                    f"{found[f'product{kind}']:.1f} GB/s",
                    f"{100 * found[f'fraction{kind}']:.0f}%",
                )
            ),
        ]
        for row in done(rows_of("growth"))
        for found in [row["bandwidth"]]
    ]
    return table("samples|memory|product, must move|fraction|product, fetched|fraction", lines)


def ranking() -> str:
    lines = []
    for row in rows_of("ranking"):
        cells = [row.get("reason", ""), "", "", "", ""]
        if row["status"] == "done":
            means = (f"{np.mean(row['accuracy'][one]):.2f}" for one in ("exact", "fast"))
            gaps = f"{row['difference']:+.2f}", f"{row['largest']:.2f}"
            cells = [f"{len(row['seeds'])}", *means, *gaps]
        lines.append([row["request"]["dataset"], *cells])
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


def small_jobs() -> str:
    lines = []
    for row in rows_of("small-jobs"):
        if "ratio" not in row:
            lines.append([size_of(row), row["reason"], "", "", ""])
            continue
        now, before = row["cpu_seconds"]["now"], row["cpu_seconds"]["before"]
        lines.append([size_of(row), *(
            f"{seconds(now[part])} / {seconds(before[part])} ({ratio(row['ratio'][part])})"
            for part in ("import", "first fit", "import and first fit", "later fit")
        )])  # fmt: skip
    return table("samples|import|first fit|both|later fit", lines)


def cross_fit() -> str:
    lines = []
    for row in rows_of("cross-fit"):
        share = f"{row['request']['label_ratio']:.0%}"
        if "ratio" not in row:
            lines.append([size_of(row), share, row["reason"], "", "", ""])
            continue
        own, alone = row["cpu_seconds"].values()
        right = " / ".join(f"{100 * one:.1f}" for one in row["accuracy"].values())
        lines.append([
            size_of(row), share, seconds(own), seconds(alone), ratio(row["ratio"]), right
        ])  # fmt: skip
    return table("samples|labels|default|network alone|ratio|accuracy of both (%)", lines)


def neighbors() -> str:
    lines = []
    for row in rows_of("neighbors"):
        request, name = row["request"], NEIGHBORS[row["request"]["what"]]
        if "ratio" not in row:
            lines.append([name.format(**request), row["reason"], "", ""])
            continue
        own, other = row["fastest"].values()
        found = f"{row['recall']:.1%}" if "recall" in row else ""
        lines.append([
            name.format(**request), seconds(own), seconds(other), ratio(row["ratio"]), found
        ])  # fmt: skip
    return table("job|manyview|other|ratio|recall", lines)


def imports() -> str:
    lines = [
        [f"`{case}`", spread(one)]
        for row in rows_of("imports")
        for case, one in row["seconds"].items()
    ]
    return table("in a fresh process, warm|time", lines)


def answer() -> str:
    """Return the first sentences of the page, as far as they are measured."""
    sentences = []
    epochs, dense_rows, grown = (done(rows_of(name)) for name in ("epoch", "dense", "growth"))
    ratios = []
    for size in dict.fromkeys(row["request"]["n_samples"] for row in rows_of("whole-job")):
        ours, theirs = (
            whole_job_median(size, one, "cpu_seconds", 1) for one in ("manyview", whole_job.PYG)
        )
        if ours and theirs:
            ratios.append(f"{ratio(ours / theirs)} at {size:,} samples")
    if ratios:
        sentences.append(
            "CPU time of the whole job, from views to labels, as a fraction of that of neighbor "
            f"graphs and a GCN of PyG with 200 epochs: {and_list(ratios)}."
        )
    if epochs:
        row = epochs[0]
        of_medians = {form: found["of_medians"] for form, found in row["ratio"].items()}
        sentences.append(
            f"At {size_of(row)} samples an epoch of MGCN-DNS takes {ratio(of_medians[TUTORIAL])} "
            f"times as long as one of PyG's GCN as in its tutorial, and "
            f"{ratio(of_medians[row['fastest']])} times as long as PyG's fastest form on a CPU."
        )
    compared = [row for row in dense_rows if "times_faster" in row]
    if compared:
        sentences.append(
            f"The paper's formulas with dense matrices take {ratio(compared[-1]['times_faster'])} "
            f"times as long per epoch at {size_of(compared[-1])} samples."
        )
    if grown:
        last = grown[-1]
        sentences.append(
            f"{size_of(last)} samples in three views were labeled in "
            f"{last['seconds']['whole'] / 60:.0f} minutes with {memory(last['peak_mb'])} of memory."
        )
    return " ".join(sentences) or NOT_YET


FIGURE_TITLES = {
    "epoch": "Time of an epoch of MGCN-DNS divided by that of PyG",
    "growth": "Growth of time and memory with the number of samples",
    "blocks": "Fraction of an epoch that each block takes",
}


def figure(name: str) -> str:
    """Return the link to a figure; nothing where there is none."""
    return f"![{FIGURE_TITLES[name]}](performance-{name}.svg)" if name in figure_rows() else ""


def with_sentences(text: str, sentences: list[str], name: str = "") -> str:
    """Put the sentences first, then the figure, then the table behind a fold."""
    if text == NOT_YET:
        return text
    parts = [" ".join(sentences), figure(name) if name else "", folded(text)]
    return "\n\n".join(filter(None, parts))


def folded(text: str) -> str:
    """Put a table behind a fold, unless nothing is measured."""
    return text if text == NOT_YET else fold("All numbers", text)


def figure_rows() -> dict[str, list[Row]]:
    """Return the rows that each figure shows, without figures that have none."""
    grown = done(rows_of("growth"))
    found = {"epoch": done(rows_of("epoch")), "growth": grown, "blocks": grown}
    return {name: rows for name, rows in found.items() if rows}
