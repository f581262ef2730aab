"""The verb `label`."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from manyview.cli.options import Data, DataOptions, Labels, option, path_option, with_options


@with_options
def label(
    *,
    data: Data,
    labels: Labels = None,
    classes: Annotated[
        list[str] | None,
        option("NAME", "A class that has no label yet. May be repeated.", "--class"),
    ] = None,
    out: Annotated[
        Path | None,
        path_option(
            "RUN",
            "Folder of the run, new or that of the same data.  [default: in runs, by DATA]",
        ),
    ] = None,
    images: Annotated[
        Path | None,
        path_option("DIR", "Folder of pictures, named by sample id or by a column of DATA."),
    ] = None,
    pixels: Annotated[
        str | None, option("VIEW", "A view whose columns are the pixels of square gray pictures.")
    ] = None,
    host: Annotated[str, option("HOST", "Address to listen on; others can then use the page.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, option("N", "Port to listen on; 0 is any that is free.")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open no browser.")
    ] = False,
    label_ratio: Annotated[
        float | None,
        option("R", "Start with this fraction of the labels of DATA and hide the others."),
    ] = None,
    seed: Annotated[int, option("S", "Random seed for the split and the model.")] = 0,
    param: Annotated[
        list[str] | None,
        option("NAME=VALUE", "Set a parameter of the method; may be repeated.", "-p", "--param"),
    ] = None,
    data_options: DataOptions,
) -> None:
    """Label DATA in the browser, together with the model.

    Shows the sample that is most worth a label, learns from every answer in the background, and
    shows predictions, a map and the estimated accuracy. Every label is on the disk before the page
    says so; the same command continues where it stopped. Ending it (the button in the page, or
    Ctrl-C) writes the run: labels.csv, report.html, predictions.csv, run.json and the model.
    Labels of a data set of the catalog are hidden, and only measure the predictions.
    """
    from manyview.labeling.opening import LabelingSettings, closing_lines, open_labeling
    from manyview.labeling.security import is_local
    from manyview.labeling.server import PageServer, check_extra
    from manyview.report.run.page import report_files
    from manyview.runs.settings import RunSettings, parse_params

    check_extra()
    params = parse_params(param or [])
    settings = LabelingSettings(
        RunSettings(
            source=data_options.source(data, labels, params.get("missing")),
            params=params,
            label_ratio=label_ratio,
            seed=seed,
            out=out,
        ),
        classes=tuple(classes or ()),
        images=images,
        pixels=pixels,
    )
    labeling = open_labeling(settings)
    service = labeling.service
    run = None
    try:
        with PageServer(service, host=host, port=port) as server:
            if not is_local(host):
                typer.echo(
                    f"Warning: the page listens on {host}. Everyone who knows the address can read "
                    "the data and change the labels.",
                    err=True,
                )
            cut = service.session.journal.n_cut
            if cut:
                typer.echo(
                    f"Warning: the last line of {service.session.journal.file} was not finished "
                    f"when the process ended; its {cut} bytes, never confirmed, were removed.",
                    err=True,
                )
            typer.echo(f"Label {labeling.data.name} at {server.address}")
            typer.echo(f"Labels are kept in {labeling.folder}. Ctrl-C ends it and writes the run.")
            if not no_browser:
                webbrowser.open(server.address)
            try:
                while not service.finished.wait(1):
                    pass
            except KeyboardInterrupt:
                typer.echo("Ending: fitting once more and writing the run ...", err=True)
            service.notify("closing")
            run = labeling.close(report_files)
    except BaseException:
        service.abandon()
        raise
    for line in closing_lines(labeling.folder, run, len(service.session.labels)):
        typer.echo(line)
