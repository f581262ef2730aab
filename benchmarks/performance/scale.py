"""docs/how-far.md: how far one machine goes, and what several would take, from stored rows."""

from manyview.estimators.fit_memory import WITH_SCRATCH, bytes_of_parts
from performance import processes
from performance.formats import NOT_YET, memory, ratio, seconds, table
from performance.isolated import ROOT
from performance.tables import Row, done, rows_of, size_of

TEMPLATE = ROOT / "benchmarks" / "templates" / "how-far.md"
ONE, TWO, THREADS, ONE_ON_DISK, TWO_ON_DISK = processes.FORMS
HIDDEN, N_CLASSES, N_VIEWS, N_COLUMNS = 64, 10, 3, 96
# Bytes of a row that a process needs of others, in one epoch: values go there, gradients go back.
ROW_BYTES = {"fixed": 2 * 4 * N_CLASSES, "learned": 2 * 4 * (HIDDEN + N_CLASSES)}
BANDWIDTH = 1.25e9  # bytes per second: a network of 10 Gbit/s
PAPER_SIZES, PAPER_MACHINES = (10_000_000, 100_000_000), (8, 16, 32, 64)
CORES = 8  # of a machine on paper


def page(machines: str) -> str:
    """Return the text of docs/how-far.md; `machines` describes where it was measured."""
    return TEMPLATE.read_text().format(
        answer=answer(),
        one_machine=one_machine(),
        processes=over_processes(),
        speed=speed(),
        model=model(),
        row_fixed=ROW_BYTES["fixed"],
        row_learned=ROW_BYTES["learned"],
        cores=CORES,
        on_paper=on_paper(),
        machines=machines,
    )


def answer() -> str:
    """Return the first sentences: the largest fit that was measured."""
    measured = [*done(rows_of("growth")), *done(rows_of("five-million"))]
    if not measured:
        return NOT_YET
    last = max(measured, key=lambda row: row["request"]["n_samples"])
    found = (
        f"The largest fit that was measured on one machine has {size_of(last)} samples in three "
        f"views. It took {last['seconds']['whole'] / 60:.0f} minutes and {memory(peak_of(last))}, "
        f"and labeled {100 * last['accuracy']:.1f}% of the unlabeled samples correctly."
    )
    if "resident_mb" in last:
        found += (
            f" With the pages of mapped files, which the system takes back when memory is short, "
            f"it held up to {memory(last['resident_mb'])}."
        )
    return found


def peak_of(row: Row) -> float:
    """Return the memory of a fit, in MB; with a scratch folder, what only the process can free."""
    return float(row.get("anonymous_mb", row.get("peak_mb")))


def one_machine() -> str:
    """Return one row per whole fit in one process on two threads."""
    lines = [
        [
            size_of(row),
            str(row["n_neighbors"]),
            seconds(row["seconds"]["graphs"]),
            seconds(row["fixed_epoch"]["median"]),
            seconds(row["epoch"]["median"]),
            seconds(row["seconds"]["whole"]),
            memory(peak_of(row)),
            "on disk" if "anonymous_mb" in row else "in memory",
            f"{100 * row['accuracy']:.1f}",
        ]
        for row in [*done(rows_of("growth")), *done(rows_of("five-million"))]
    ]
    heads = "samples|k|graphs|epoch, graph fixed|epoch, graph learned|whole fit|memory"
    return table(f"{heads}|rarely needed arrays|accuracy", lines)


def over_processes() -> str:
    """Return one row per size and form, with speeds relative to one process."""
    lines = []
    for row in done(rows_of("processes")):
        form = row["request"]["form"]
        on_disk = form in (ONE_ON_DISK, TWO_ON_DISK)
        base = _row_of(row["request"]["n_samples"], ONE_ON_DISK if on_disk else ONE)
        cells = [
            seconds(row["seconds"]["graphs"]),
            seconds(row["fixed_epoch"]["median"]),
            seconds(row["epoch"]["median"]),
            seconds(row["seconds"]["whole"]),
        ]
        if base is not None:
            cells += [
                ratio(base["seconds"]["training"] / row["seconds"]["training"]),
                ratio(base["seconds"]["whole"] / row["seconds"]["whole"]),
            ]
        sent = row["sent_bytes_per_epoch"]
        cells.append(", ".join(memory(sent[kind] / 2**20) for kind in ("fixed", "learned")))
        cells.append(memory(row.get("anonymous_mb")))
        lines.append([size_of(row), form, *cells])
    heads = (
        "samples||graphs|epoch, graph fixed|epoch, graph learned|whole fit|speed of the training"
    )
    heads += "|speed of the whole fit|sent per epoch|memory of a process"
    return table(heads, lines, n_words=2)


def speed() -> str:
    """Return the speed of two processes at the largest size, as one sentence."""
    alone = _largest_alone()
    if alone is None:
        return ""
    n_samples = alone["request"]["n_samples"]
    rows = {form: _row_of(n_samples, form) for form in (ONE, TWO, THREADS)}
    if None in rows.values():
        return ""
    whole = {form: row["seconds"]["whole"] for form, row in rows.items()}
    training = {form: row["seconds"]["training"] for form, row in rows.items()}
    return (
        f"With {n_samples:,} samples, two processes with one thread each train "
        f"{ratio(training[ONE] / training[TWO])} times as fast as one, and make the whole fit "
        f"{ratio(whole[ONE] / whole[TWO])} times as fast; one process with two threads makes it "
        f"{ratio(whole[ONE] / whole[THREADS])} times as fast. What is neither search nor training, "
        f"{seconds(_rest(rows[ONE]))} here and {seconds(_rest(rows[TWO]))} with two processes, is "
        "mostly repeated by every process."
    )


def _rest(row: Row) -> float:
    taken = row["seconds"]
    return float(taken["whole"] - taken["graphs"] - taken["training"])


def needed_fraction() -> float | None:
    """Return what a process of two sends, as a fraction of its rows; measured."""
    shared = [row for row in done(rows_of("processes")) if row["request"]["form"] == TWO]
    if not shared:
        return None
    last = shared[-1]
    sent = last["sent_bytes_per_epoch"]["learned"]
    return float(sent / (ROW_BYTES["learned"] * last["request"]["n_samples"] / 2))


def model() -> str:
    """Return what the model's constants are, as one sentence."""
    base, needed = _largest_alone(), needed_fraction()
    if base is None or needed is None:
        return NOT_YET
    n_samples = base["request"]["n_samples"]
    costs = {name: 1e6 * base[name]["median"] / n_samples for name in ("fixed_epoch", "epoch")}
    return (
        f"Measured with {n_samples:,} samples on one thread: {costs['fixed_epoch']:.2f} µs per "
        f"sample and epoch while the graph is fixed, {costs['epoch']:.1f} µs while it is learned. "
        f"Of two processes, each sends as much as {needed:.0%} of its rows would take: nearly all "
        "rows, and values of the edges between the blocks. These samples were made at random, so "
        "that a block of samples has neighbors everywhere."
    )


def on_paper() -> str:
    """Return predicted epochs of large fits on several machines."""
    base, needed = _largest_alone(), needed_fraction()
    if base is None or needed is None:
        return NOT_YET
    lines = []
    for n_samples in PAPER_SIZES:
        for n_machines in PAPER_MACHINES:
            cells = [
                seconds(predicted(base, needed, n_samples, n_machines, kind)) for kind in ROW_BYTES
            ]
            received = needed * received_rows(n_samples, n_machines) * ROW_BYTES["learned"]
            lines.append(
                [f"{n_samples:,}", str(n_machines), *cells, memory(received / 2**20),
                 memory(memory_bytes(n_samples) / 2**20)]
            )  # fmt: skip
    heads = "samples|machines|epoch, graph fixed|epoch, graph learned|received per learned epoch"
    return table(f"{heads}|memory per machine", lines)


def received_rows(n_samples: int, n_machines: int) -> float:
    """Return the rows that a machine does not hold."""
    return n_samples * (1 - 1 / n_machines)


def predicted(base: Row, needed: float, n_samples: int, n_machines: int, kind: str) -> float:
    """Predict the seconds of an epoch: the machine's part of the work, then its messages."""
    name = "fixed_epoch" if kind == "fixed" else "epoch"
    work = base[name]["median"] / base["request"]["n_samples"] * n_samples / (n_machines * CORES)
    return float(work + needed * received_rows(n_samples, n_machines) * ROW_BYTES[kind] / BANDWIDTH)


def memory_bytes(n_samples: int, n_neighbors: int = 10) -> float:
    """Estimate the memory of a machine with a scratch folder: all graphs, by the fit's own rule."""
    n_edges_by_view = 1.4 * n_neighbors * n_samples
    return bytes_of_parts(
        WITH_SCRATCH,
        n_samples,
        n_values=N_COLUMNS * n_samples,
        n_edges=N_VIEWS * n_edges_by_view + n_samples,
        n_graph_edges=(N_VIEWS + 1) * n_edges_by_view,
        n_hidden=HIDDEN + N_CLASSES,
        n_neighbors=n_neighbors,
        early_fusion=True,
    )


def _largest_alone() -> Row | None:
    alone = [row for row in done(rows_of("processes")) if row["request"]["form"] == ONE]
    return alone[-1] if alone else None


def _row_of(n_samples: int, form: str) -> Row | None:
    request = {"n_samples": n_samples, "form": form}
    found = [row for row in done(rows_of("processes")) if row["request"] == request]
    return found[0] if found else None
