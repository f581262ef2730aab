"""Figures of the pages as files: SVG that is the same for the same numbers."""

from io import BytesIO

from matplotlib import rc_context

from manyview.report.figures.style import STYLE
from manyview.system.files import write_whole

NO_DATE = {"Date": None, "Creator": None}  # so that the same numbers give the same file


def svg_text(figure, description):
    """Return the SVG of a figure that carries a description of the numbers it shows."""
    buffer = BytesIO()
    with rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata=NO_DATE | {"Description": description})
    lines = buffer.getvalue().decode().splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def save_figure(figure, description, path):
    """Write the SVG of a figure."""
    write_whole(path, svg_text(figure, description))
