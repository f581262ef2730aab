"""The command line: verbs that hand on to runs and reports, and print what comes back."""

import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer

from manyview.bench import bench_app
from manyview.errors import ManyviewError
from manyview.options import (
    INTERRUPTED,
    AbstainBelow,
    AsJson,
    Data,
    DataDir,
    GraphsKey,
    IdColumn,
    LabelColumn,
    Labels,
    LabelsKey,
    Method,
    Protocol,
    Quiet,
    Run,
    SamplesIn,
    ViewsKey,
    source_of,
)
from manyview.terminal import print_json, print_text, width
from manyview.tuning_verbs import propose, tune

# Libraries that take long to import (torch, scikit-learn) are imported by the verbs that need them.

app = typer.Typer(
    name="manyview",
    help="Label a whole multi-view data set from a few known labels.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(bench_app)
USER_ERROR = 2
# Base of all usage errors, in the click that this typer carries or stands on.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
# Parameters of the library that are options here, to be named as such in errors.
OPTIONS = re.compile(
    r"\b(views_key|labels_key|graphs_key|samples_in|id_column|label_column|label_ratio|labels"
    r"|abstain_below|annotate|missing)"
    r"(=['\"]|=|(?= must be (?:one|above|a number) | is for | are called))"
)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; errors of the user are one line and exit with 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names a terminal cannot show
    try:
        code = app(arguments, prog_name="manyview", standalone_mode=False)
    except ManyviewError as error:
        code = _fail(str(error))
    except UsageError as error:
        code = _fail(error.format_message(), getattr(error, "ctx", None))
    except typer.Abort:
        code = INTERRUPTED
    if code == INTERRUPTED:
        typer.echo("Interrupted; nothing was written.", err=True)
    sys.exit(code)


@app.callback(invoke_without_command=True)
def top(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.")
    ] = False,
) -> None:
    """Label a whole multi-view data set from a few known labels."""
    if show_version:
        typer.echo(f"manyview {version('manyview')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def fit(
    data: Data,
    labels: Labels = None,
    label_ratio: Annotated[
        float | None,
        typer.Option(
            metavar="R", help="Hide all labels but this share, and score the answers on them."
        ),
    ] = None,
    protocol: Protocol = "stratified",
    seed: Annotated[int, typer.Option(metavar="S", help="Of the split and the method.")] = 0,
    method: Method = "mgcn-dns",
    param: Annotated[
        list[str] | None,
        typer.Option("-p", "--param", metavar="NAME=VALUE", help="A parameter of the method."),
    ] = None,
    params: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Parameters in the tuning.json of `manyview tune`; -p goes first.",
        ),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Calibrate the probabilities on held-out labels (-p calibration=temperature); "
            "takes twice as long, four times with few labels; no answer changes.",
        ),
    ] = False,
    abstain_below: AbstainBelow = None,
    annotate: Annotated[
        bool,
        typer.Option(
            "--annotate",
            help=".h5mu, .h5ad: leave a copy of DATA with the results in .obs, .obsm and .obsp, "
            "results.h5mu.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The run's folder, new or empty.  [default: runs/DATA-METHOD-seedS]",
        ),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.html.")] = False,
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="error|impute",
            help="Single unknown values: refuse them, or fill in the mean of the column. Samples "
            "that lack a whole view are always kept.",
        ),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Keep neighbours here, for later fits on the same data."),
    ] = None,
    data_dir: DataDir = None,
    views_key: ViewsKey = None,
    labels_key: LabelsKey = None,
    graphs_key: GraphsKey = None,
    samples_in: SamplesIn = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Label all samples of DATA from those whose label is known.

    Leaves a folder with report.html (what was found, how sure, what to check, for a browser),
    predictions.csv (sample_id; label: the method's answer, also where a
    label was given; probability: of that label; confidence: of the sample's place in the graph;
    known: whether a label was given; given: that label), run.json, history.csv and the model.
    """
    from manyview.report.run_page import report_files
    from manyview.report.run_text import run_text
    from manyview.runs.fitting import fit_run
    from manyview.runs.settings import RunSettings, parse_params
    from manyview.tuning.tuned_data import read_params

    calibration = {"calibration": "temperature"} if calibrate else {}
    caching = {} if cache is None else {"cache_dir": cache}
    filling = {} if missing is None else {"missing": missing}
    settings = RunSettings(
        source=source_of(
            data, labels, data_dir, views_key, labels_key, graphs_key, samples_in, id_column,
            label_column, missing,
        ),
        method=method,
        params={
            **calibration,
            **caching,
            **filling,
            **({} if params is None else read_params(params, method)),
            **parse_params(param or []),
        },
        label_ratio=label_ratio,
        protocol=protocol,
        seed=seed,
        abstain_below=abstain_below,
        annotate=annotate,
        out=out,
    )  # fmt: skip
    run = fit_run(
        settings,
        verbose=sys.stderr.isatty() and not (quiet or as_json),
        extra_files=None if no_report else report_files,
    )
    for warning in run.warnings:
        typer.echo(f"Warning: {warning}", err=True)
    if as_json:
        print_json(run.document())
    elif not quiet:
        print_text(run_text(run, width(), has_report=not no_report))


@app.command()
def predict(
    run: Run,
    data: Data,
    labels: Labels = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV file to write.  [default: the output stream]"),
    ] = None,
    abstain_below: AbstainBelow = None,
    data_dir: DataDir = None,
    views_key: ViewsKey = None,
    labels_key: LabelsKey = None,
    graphs_key: GraphsKey = None,
    samples_in: SamplesIn = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Label new samples with the model of RUN.

    DATA must hold the views of the run, by name. Writes CSV: sample_id, label, probability.
    Where DATA come with labels, says how well these agree.
    """
    from manyview.report.run_text import prediction_text
    from manyview.runs.predicting import check_writable, predict_run, write_predictions

    source = source_of(
        data, labels, data_dir, views_key, labels_key, graphs_key, samples_in, id_column,
        label_column,
    )  # fmt: skip
    if out is not None:
        check_writable(out)
    prediction = predict_run(run, source, abstain_below=abstain_below)
    if out is not None:
        write_predictions(prediction, out)
    elif not as_json:
        typer.echo(prediction.csv(), nl=False)
    if as_json:
        print_json(prediction.document(out))
    elif not quiet:
        print_text(prediction_text(prediction, out, width()), err=out is None)


@app.command()
def explain(
    run: Run,
    sample: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The sample, by its sample_id in predictions.csv."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NEW",
            help="Data of new samples, as for `manyview predict`: ID is one of theirs. May be "
            "repeated, for several tables.",
        ),
    ] = None,
    data_dir: DataDir = None,
    views_key: ViewsKey = None,
    labels_key: LabelsKey = None,
    graphs_key: GraphsKey = None,
    samples_in: SamplesIn = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    as_json: AsJson = False,
) -> None:
    """Say why a sample of RUN got its answer: neighbours, views, and their parts of it.

    The parts add up to the log-odds of the answer against the runner-up. Without --sample, say
    how many of all answers change when a view is left out.
    """
    from manyview.report.explanation_text import reasons_text
    from manyview.runs.explaining import explain_run

    source = source_of(
        data or [], None, data_dir, views_key, labels_key, graphs_key, samples_in, id_column,
        label_column,
    )  # fmt: skip
    reasons = explain_run(run, sample, source if data else None)
    if as_json:
        print_json(reasons.document())
    else:
        print_text(reasons_text(reasons, width()))


app.command()(tune)
app.command()(propose)


@app.command()
def datasets(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Tell all about this one.", show_default=False),
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the data sets known by name, and which are here."""
    from manyview.data.card_files import find_card, is_here
    from manyview.data.cards import CATALOG
    from manyview.report.dataset_text import card_document, card_text, catalog_text

    cards = list(CATALOG.values()) if name is None else [find_card(name)]
    listed = [(card, is_here(card, data_dir)) for card in cards]
    if as_json:
        documents = [card_document(card, here) for card, here in listed]
        print_json(documents if name is None else documents[0])
    elif name is None:
        print_text(catalog_text(listed))
    else:
        print_text(card_text(*listed[0], width()))


@app.command()
def methods(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Tell of this one alone.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods: paper, cost, whether they label new samples, and their defaults."""
    from manyview.methods import METHODS, find_method
    from manyview.report.method_text import method_document, methods_text

    chosen = list(METHODS.values()) if name is None else [find_method(name)]
    if as_json:
        documents = [method_document(method) for method in chosen]
        print_json(documents if name is None else documents[0])
    else:
        print_text(methods_text(chosen, width()))


def _fail(message: str, context: Any = None) -> int:
    text = " ".join(OPTIONS.sub(_as_option, message).split())
    if context is not None:
        text = f"{text.rstrip('.')}. Try: {context.command_path} --help"
    typer.echo(f"Error: {text}", err=True)
    return USER_ERROR


def _as_option(match: re.Match[str]) -> str:
    """`id_column=` becomes `--id-column`, and `id_column='x'` becomes `--id-column 'x'`."""
    value = match[2].removeprefix("=")
    return f"--{match[1].replace('_', '-')}{' ' if value else ''}{value}"
