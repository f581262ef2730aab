"""Pictures: only from the folder, by id or by a column, or from pixels."""

import zlib

import numpy as np
import pytest

from manyview.data.mixed_table import MixedTable
from manyview.data.pixels import gray_png
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.labeling.images import Images

PICTURE = gray_png(np.arange(4))


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "photos"
    (inside / "deep").mkdir(parents=True)
    for file in ("a.png", "deep/b.png"):
        (inside / file).write_bytes(PICTURE)
    (tmp_path / "secret.png").write_bytes(b"secret")
    (inside / "notes.txt").write_text("secret")
    return inside


def views_of(names):
    numbers = np.arange(float(len(names)))
    return MultiView({"t": MixedTable(("photo", "n"), (np.array(names, dtype=object), numbers))})


def test_pictures_are_found_by_id(folder):
    views = MultiView({"x": np.eye(3)})
    images = Images(views, ["a", "a.png", "c"], folder)
    assert [images.has(row) for row in range(3)] == [True, True, False]
    assert images.read(0) == (PICTURE, "image/png")
    assert images.read(2) is None


def test_pictures_are_found_by_a_column(folder):
    images = Images(views_of(["deep/b.png", "a.png"]), ["x", "y"], folder)
    assert images.read(0) == (PICTURE, "image/png")
    assert not Images(views_of(["deep/b.png"]), ["x"]).is_any  # without a folder


@pytest.mark.parametrize(
    "name", ["../secret.png", "/etc/x.png", "link.png", "deep/../../secret.png"]
)
def test_nothing_outside_of_the_folder_is_read(folder, name):
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    path = name if not name.startswith("/etc") else str(folder.parent / "secret.png")
    images = Images(views_of([path, "a.png"]), ["x", "y"], folder)
    assert images.read(0) is None
    assert images.read(1) is not None


def test_other_files_are_not_pictures(folder):
    images = Images(views_of(["notes.txt", "x\0.png"]), ["notes", "y"], folder)
    assert images.read(0) is None
    assert images.read(1) is None


def test_pixels_become_a_picture(rng):
    view = rng.random((5, 64))
    images = Images(MultiView({"pixels": view}), list("abcde"), pixels="pixels")
    content, kind = images.read(3)
    assert kind == "image/png"
    at = content.index(b"IDAT") + 4
    size = int.from_bytes(content[at - 8 : at - 4])
    lines = np.frombuffer(zlib.decompress(content[at : at + size]), dtype=np.uint8).reshape(8, 9)
    assert lines[:, 1:].ravel().argmin() == view[3].argmax()  # the largest is darkest


def test_wrong_names_are_refused(tmp_path):
    views = MultiView({"a": np.eye(3)})
    with pytest.raises(InputError, match="no folder of images"):
        Images(views, list("abc"), tmp_path / "none")
    with pytest.raises(InputError, match=r"the views are a\."):
        Images(views, list("abc"), pixels="b")
    with pytest.raises(InputError, match="square pictures; a has 3 columns"):
        Images(views, list("abc"), pixels="a")
