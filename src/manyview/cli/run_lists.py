"""The verbs `runs`, `runs list` and `runs diff`: runs side by side."""

from pathlib import Path
from typing import Annotated, Any

from typer.core import TyperGroup

from manyview.cli.completion import complete_runs
from manyview.cli.console import print_json, print_notice, print_table, print_text, width
from manyview.cli.options import AsJson, Run, Verbose, examples, make_app, option, path_argument

HELP = ("-h", "--help")
LIST = "list"


class ListByDefault(TyperGroup):
    """A group whose verb `list` is meant where none is named: `manyview runs FOLDER`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the verb, unless one is named or help is asked for."""
        is_completed = ctx.resilient_parsing and not args
        words = [word for word in args if not word.startswith("-")]
        is_other = args and (args[0] in HELP or len(words) > 1 or args[0] in self.commands)
        if not is_completed and not is_other:
            args = [LIST, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete verbs, and folders as for `list`."""
        items = super().shell_complete(ctx, incomplete)
        folders = self.commands[LIST].params[0].shell_complete(ctx, incomplete)
        return [*items, *folders]


runs_app = make_app(
    "runs",
    "List runs, or show what differs between two of them.\n\n"
    "`manyview runs FOLDER` is short for `manyview runs list FOLDER`.",
    "manyview runs",
    "manyview runs diff runs/mine runs/other",
    cls=ListByDefault,
)


@runs_app.command(LIST, epilog=examples("manyview runs list", "manyview runs experiments --json"))
def list_verb(
    folder: Annotated[
        Path,
        path_argument("FOLDER", "Folder with runs, up to three folders deep.", complete_runs),
    ] = Path("runs"),
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """List the runs in FOLDER, newest first.

    FOLDER is `runs` unless named. Columns: run; data; method; labels, given ones of all samples;
    estimated, the accuracy estimated from the given labels, with its 95% interval; measured, the
    accuracy on labels hidden by a label ratio; time of the fit; written, when.
    """
    from manyview.report.run_lists import RUNS_ALIGN, RUNS_HEADER, problem_lines, run_rows
    from manyview.runs.listing import list_runs

    runs = list_runs(folder)
    if as_json:
        print_json([one.document() for one in runs])
        return
    for line in problem_lines(runs):
        print_notice("Warning", line, "yellow")
    readable = [one for one in runs if not one.problem]
    if readable:
        print_table(RUNS_HEADER, run_rows(readable), RUNS_ALIGN)
    else:
        print_text(
            f"There is no run in {folder}. `manyview fit DATA --out {folder}/NAME` makes one."
        )


@runs_app.command(
    "diff",
    epilog=examples(
        "manyview runs diff runs/mine runs/other", "manyview runs diff a b --rows 50 --json"
    ),
)
def diff_verb(
    first: Run,
    second: Annotated[Path, path_argument("RUN", "Another one.", complete_runs)],
    rows: Annotated[int, option("N", "Samples to print at most; JSON has all of them.")] = 10,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Show the settings and predictions that differ between two runs.

    Samples are matched by sample_id. Samples that only one run has are counted, not compared.
    """
    from manyview.report.run_lists import (
        CHANGED_ALIGN,
        CHANGED_HEADER,
        SETTINGS_ALIGN,
        SETTINGS_HEADER,
        changed_rows,
        difference_text,
        setting_rows,
    )
    from manyview.runs.differing import diff_runs
    from manyview.validation import check_whole_number

    check_whole_number("rows", rows, at_least=0)
    difference = diff_runs(first, second)
    if as_json:
        print_json(difference.document())
        return
    print_text(difference_text(difference, rows, width()))
    for header, shown, align in (
        (SETTINGS_HEADER, setting_rows(difference), SETTINGS_ALIGN),
        (CHANGED_HEADER, changed_rows(difference, rows), CHANGED_ALIGN),
    ):
        if shown:
            print_text("")
            print_table(header, shown, align)
