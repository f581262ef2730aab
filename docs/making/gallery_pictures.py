"""Draw the pictures of the gallery by running its pages: docs/figures/gallery/*.png.

    python docs/making/gallery_pictures.py [FOLDER [PAGE ...]]

Every block with `data-figure` gives one picture for light and one for dark pages.
"""

import doctest
import sys
from pathlib import Path

import matplotlib.pyplot as plt

DOCS = Path(__file__).parent.parent
sys.path.insert(0, str(DOCS.parent / "tests" / "helpers"))

from page_blocks import blocks  # noqa: E402

STYLES = {"light": "default", "dark": "dark_background"}


def main(folder: Path, pages: list[Path]) -> list[Path]:
    """Run the pages in each style, and return the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    return [path for page in pages for theme in STYLES for path in draw(page, theme, folder)]


def draw(page: Path, theme: str, folder: Path) -> list[Path]:
    """Run the blocks of a page, and save the figure that each marked one has drawn."""
    written, names, parser = [], {}, doctest.DocTestParser()
    with plt.style.context(STYLES[theme]):
        for block in blocks(page.read_text(encoding="utf-8"), "python"):
            for example in parser.get_examples(block.text):
                exec(compile(example.source, str(page), "single"), names)
            name = block.attributes.get("data-figure")
            if name is not None:
                path = folder / f"{name}-{theme}.png"
                started = path.with_name(f".{path.name}")
                plt.gcf().savefig(started, dpi=110, transparent=True, metadata={"Software": None})
                written.append(started.replace(path))
            plt.close("all")
    return written


if __name__ == "__main__":
    plt.switch_backend("agg")
    where, *chosen = map(Path, sys.argv[1:] or [DOCS / "figures" / "gallery"])
    main(where, chosen or sorted((DOCS / "gallery").glob("*.md")))
