"""Fuzz the readers: damaged and crafted files of every format.

A case writes one file, reads it with `read_views` and uses what came out. It holds if the file is
refused with an error of manyview, or read. It breaks a promise if the interpreter crashes or
hangs, memory grows beyond the limit, another exception or a RuntimeWarning comes out, code in the
file runs (a canary appears), or an `.npz` whose bytes were damaged at random gives values that the
original does not have: its parts have checksums. Other formats have none; there a changed byte may
be a changed value.
"""

import io
import json
import pickle
import struct
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tests.soak.campaign import Limits, Violation, count, main, shared_folder
from tests.soak.mutations import WIDE_EDGES, mutate
from tests.soak.packed_tables import PACKERS, craft_xlsx, craft_zip, packed_craft, write_packed

MAX_MEMORY_GB = 0.5  # what `config_context` allows the readers
LIMITS = Limits(seconds=30, memory_gb=2.0)  # a view may be held in several forms
N_SAMPLES = 40
SLOW_WEIGHT = 0.4  # of an HDF5 file, which is read in a process of its own


def prepare(shared: Path) -> None:
    """Write healthy files of every format."""
    import scipy.io
    from scipy import sparse

    rng = np.random.default_rng(0)
    labels = np.arange(N_SAMPLES) % 3
    one, two = rng.normal(size=(N_SAMPLES, 6)), rng.random((N_SAMPLES, 4)).astype(np.float32)
    words = sparse.random(N_SAMPLES, 9, 0.3, format="csc", rng=1)
    cell = np.empty((1, 2), dtype=object)
    cell[0, 0], cell[0, 1] = one, words
    struct_value = {"a": one, "b": np.array(["x", "y"], dtype=object)}
    for name, compressed in {"plain": False, "packed": True}.items():
        scipy.io.savemat(
            shared / f"{name}.mat",
            {"X": cell, "Y": labels[:, None], "extra": struct_value, "text": "some words"},
            do_compression=compressed,
        )
    scipy.io.savemat(shared / "old.mat", {"X": one, "Y": labels[:, None]}, format="4")
    np.savez(shared / "plain.npz", view1=one, view2=two, y=labels, class_names=["a", "b", "c"])
    np.savez_compressed(shared / "packed.npz", view1=one, view2=two, y=labels)
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        sparse.save_npz(shared / f"{kind}.npz", words.asformat(kind))
    np.save(shared / "view.npy", one)
    lines = ["id,label,a,b,c,d"]
    lines += [f"s{n},{labels[n]}," + ",".join(f"{v:.4g}" for v in two[n]) for n in range(40)]
    (shared / "table.csv").write_text("\n".join(lines) + "\n")
    (shared / "table.tsv").write_text("\n".join(lines).replace(",", "\t") + "\n")
    _write_frames(shared, one, labels)
    write_packed(shared)
    _write_hdf5(shared, one, words, labels)
    seen = {}
    for file in shared.glob("*.npz"):
        seen[file.name] = sorted(_digests(_read(file, {})))
    (shared / "digests.json").write_text(json.dumps(seen))


def _write_frames(shared: Path, view: np.ndarray, labels: np.ndarray) -> None:
    import pandas as pd

    frame = pd.DataFrame(view, columns=list("abcdef"))
    frame.insert(0, "id", [f"s{number}" for number in range(N_SAMPLES)])
    frame["label"] = labels
    frame.to_parquet(shared / "table.parquet")
    frame.to_feather(shared / "table.feather")
    frame.to_excel(shared / "table.xlsx", index=False)


def _write_hdf5(shared: Path, view: np.ndarray, words: Any, labels: np.ndarray) -> None:
    import anndata
    import h5py
    import mudata
    import pandas as pd

    obs = pd.DataFrame(
        {"label": [f"class {label}" for label in labels]},
        index=[f"s{number}" for number in range(N_SAMPLES)],
    )
    dense, counts = anndata.AnnData(view, obs=obs), anndata.AnnData(words.tocsr(), obs=obs)
    dense.obsm["pca"] = view[:, :3]
    dense.write_h5ad(shared / "dense.h5ad")
    counts.write_h5ad(shared / "sparse.h5ad", compression="gzip")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mudata.MuData({"one": dense, "two": counts}).write_h5mu(shared / "both.h5mu")
    for name, options in {"plain73": {}, "packed73": {"compression": "gzip"}}.items():
        with h5py.File(shared / f"{name}.mat", "w", userblock_size=512) as file:
            parts = file.create_group("#refs#")
            parts.create_dataset("b", data=view.T, **options)
            group = parts.create_group("c")
            group.attrs["MATLAB_sparse"] = np.uint64(words.shape[0])
            for part, values in {
                "data": words.data,
                "ir": words.indices,
                "jc": words.indptr,
            }.items():
                group.create_dataset(part, data=values)
            references = np.array([[parts["b"].ref], [parts["c"].ref]], dtype=h5py.ref_dtype)
            file.create_dataset("X", data=references, dtype=h5py.ref_dtype)
            file["X"].attrs["MATLAB_class"] = np.bytes_("cell")
            file.create_dataset("Y", data=labels[None, :].astype(float))
        content = bytearray((shared / f"{name}.mat").read_bytes())
        content[:10] = b"MATLAB 7.3"
        (shared / f"{name}.mat").write_bytes(content)


class Canary:
    """Pickles to an object that writes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


def case(rng: np.random.Generator, folder: Path) -> str:
    """Damage one file, read it, and use what came out."""
    files = sorted(file for file in shared_folder().iterdir() if file.suffix != ".json")
    weights = np.array([SLOW_WEIGHT if _kind(file) == "hdf5" else 1.0 for file in files])
    source = files[rng.choice(len(files), p=weights / weights.sum())]
    kind = _kind(source)
    crafts = [] if source.name.startswith("bomb.") else CRAFTS.get(kind, [])
    count(kind)
    path, is_damaged = folder / source.name, not crafts or rng.random() < 0.5
    if is_damaged:
        path.write_bytes(mutate(source.read_bytes(), rng))
    else:
        path.write_bytes(source.read_bytes())
        if path.suffix in PACKERS:
            (folder / "original.csv").write_bytes((shared_folder() / "table.csv").read_bytes())
        crafts[rng.integers(len(crafts))](path, rng)
    options = OPTIONS[rng.integers(len(OPTIONS))] if rng.random() < 0.15 else {}
    try:
        data = _read(path, options)
    finally:
        if (folder / "canary").exists():
            raise Violation("code run", "the canary was written")
    _use(data, rng)
    if is_damaged and not options and path.suffix == ".npz":
        known = json.loads((shared_folder() / "digests.json").read_text())[path.name]
        if not set(_digests(data)) <= set(known):
            raise Violation("silent other answer", "values that the original does not have")
    return "read"


OPTIONS: list[dict[str, Any]] = [
    {"samples_in": "rows"}, {"samples_in": "columns"}, {"views_key": "view1"}, {"views_key": "X"},
    {"labels_key": "y"}, {"labels_key": "Y"}, {"missing": "impute"}, {"label_column": "label"},
    {"graphs_key": "adj"}, {"id_column": "id"}, {"views_key": "one/obsm/pca"},
]  # fmt: skip


def _kind(file: Path) -> str:
    if file.name.endswith("73.mat"):
        return "hdf5"
    if file.suffix in (".h5ad", ".h5mu"):
        return "hdf5"
    if file.suffix == ".mat":
        return "mat4" if file.stem == "old" else "mat5"
    return file.suffix[1:]


def _read(path: Path, options: dict[str, Any]) -> Any:
    from manyview.data.io.readers import read_views
    from manyview.system.config import config_context

    with warnings.catch_warnings(), config_context(max_memory=MAX_MEMORY_GB):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        return read_views(path, **options)


def _use(data: Any, rng: np.random.Generator) -> None:
    """Compute with every view, and fit a method to some of the data sets."""
    from manyview.data.encoding import encode_views, fit_encoders
    from manyview.errors import ManyviewError
    from manyview.methods import METHODS

    n_samples = len(data.views)
    if len(data.sample_ids) != n_samples or len(data.notes) < 1:
        raise Violation("inconsistent", "ids and samples differ in number")
    if data.labels is not None and len(data.labels) != n_samples:
        raise Violation("inconsistent", "labels and samples differ in number")
    data.views.shape, data.views.present  # noqa: B018
    for view in encode_views(data.views, fit_encoders(data.views) or {}):
        (view @ np.ones(view.shape[1])).sum()
        view[rng.integers(n_samples, size=3)].sum()
    if data.labels is not None and rng.random() < 0.1 and n_samples <= 100:
        with suppress(ManyviewError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            METHODS["knn"]().fit(data.views, data.labels).predict(data.views[:3])


def _digests(data: Any) -> list[str]:
    import hashlib

    return [
        hashlib.sha256(
            np.ascontiguousarray(view if isinstance(view, np.ndarray) else view.toarray())
        ).hexdigest()
        for view in data.views
    ]


# Crafted files: sound in their outer format, wrong inside.


def craft_npz(path: Path, rng: np.random.Generator) -> None:
    """Change one array of an archive, or its directory; checksums are right."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    kind = rng.integers(8)
    name = list(members)[rng.integers(len(members))]
    compression = zipfile.ZIP_DEFLATED
    if kind == 0:  # the header alone
        members[name] = mutate(members[name][:128], rng) + members[name][128:]
    elif kind <= 3:  # values, of the indices of a sparse matrix most of all
        inner = [one for one in members if one[:-4] in ("indices", "indptr", "row", "col", "shape")]
        name = inner[rng.integers(len(inner))] if inner else name
        members[name] = _with_values(members[name], rng)
    elif kind == 4:
        members[name] = _with_shape(members[name], rng)
    elif kind == 5:
        members[name] = _pickled(path.parent / "canary")
    elif kind == 6:
        compression = int(rng.choice([zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_STORED]))
    else:
        members |= {f"more{number}.npy": members[name] for number in range(int(rng.integers(3000)))}
    with zipfile.ZipFile(path, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one, content in members.items():
            archive.writestr(one, content)
            if kind == 1 and rng.random() < 0.2:
                archive.writestr(one, content)
    if kind == 2 and rng.random() < 0.5:  # the directory states another size
        content = bytearray(path.read_bytes())
        place = content.rfind(b"PK\x01\x02")
        content[place + 24 : place + 28] = struct.pack("<I", int(rng.choice([0, 10, 2**32 - 2])))
        path.write_bytes(content)


def _array(content: bytes) -> np.ndarray:
    return np.load(io.BytesIO(content), allow_pickle=False)


def _bytes_of(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _with_values(content: bytes, rng: np.random.Generator) -> bytes:
    array = _array(content)
    if array.dtype.kind not in "fiu" or not array.size:
        return content
    return _bytes_of(_odd_values(array, rng))


def _odd_values(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace some values by those at the edge of their type."""
    array = np.array(array)
    flat = array.reshape(-1)
    for _ in range(int(rng.integers(1, 4))):
        place = rng.integers(len(flat))
        if array.dtype.kind == "f":
            flat[place] = rng.choice([np.nan, np.inf, -np.inf, 1e30, 1e300, -1e300, 1e-300, 0.5])
        else:
            limits = np.iinfo(array.dtype)
            number = WIDE_EDGES[rng.integers(len(WIDE_EDGES))] * (-1 if rng.random() < 0.3 else 1)
            flat[place] = min(max(number, limits.min), limits.max)
    if rng.random() < 0.2:
        array = array.astype(rng.choice(["f4", "f8", "i1", "u8", "c16", "f2"]))
    return array


def _with_shape(content: bytes, rng: np.random.Generator) -> bytes:
    """State another shape or type in the header of an array."""
    array = _array(content)
    shapes = [
        "(0, 1000000000000)", "(1000000000000, 0)", "(4611686018427387904, 4)", "()", "(-1, -6)",
        "(40,)", "(1, 240)", "(240, 1)", "(2, 20, 6)", "(39, 6)", "(41, 6)",
    ]  # fmt: skip
    kinds = ["<f8", "|O", "<f4", ">f8", "<i8", "|S8", "|V8", "<U2", "<c16", "<M8[ns]", "|b1"]
    shape = shapes[rng.integers(len(shapes))] if rng.random() < 0.7 else str(array.shape)
    kind = kinds[rng.integers(len(kinds))] if rng.random() < 0.5 else array.dtype.str
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.tobytes()


def _pickled(canary: Path) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array([[Canary(canary)]], dtype=object), allow_pickle=True)
    return stream.getvalue()


def craft_npy(path: Path, rng: np.random.Generator) -> None:
    """Change the header or the values of an array, or write a pickle."""
    content = path.read_bytes()
    kind = rng.integers(4)
    if kind == 0:
        path.write_bytes(_with_shape(content, rng))
    elif kind == 1:
        path.write_bytes(_with_values(content, rng))
    elif kind == 2:
        path.write_bytes(_pickled(path.parent / "canary"))
    else:
        path.write_bytes(pickle.dumps(Canary(path.parent / "canary")))


def craft_mat5(path: Path, rng: np.random.Generator) -> None:
    """Mutate the parts of one variable behind its compression, or nest cells deeply."""
    content = path.read_bytes()
    header, elements, position = content[:128], [], 128
    while position + 8 <= len(content):
        kind, length = struct.unpack_from("<II", content, position)
        body = content[position + 8 : position + 8 + length]
        elements.append(
            zlib.decompress(body) if kind == 15 else content[position : position + 8] + body
        )
        position += 8 + length
    number = int(rng.integers(len(elements)))
    if rng.random() < 0.1:
        elements[number] = _nested_cell(int(rng.choice([3, 90, 200, 100_000])))
    elif rng.random() < 0.1:
        elements[number] = struct.pack("<II", 14, 2**31) + elements[number][8:]
    else:
        changed = bytearray(elements[number])
        for _ in range(int(rng.integers(1, 4))):
            limit = min(len(changed), 96) if rng.random() < 0.6 else len(changed)
            place = int(rng.integers(limit)) // 4 * 4
            value = (
                int(rng.choice(np.array(WIDE_EDGES[:11])))
                if rng.random() < 0.6
                else int(rng.integers(64))
            )
            changed[place : place + 4] = struct.pack("<I", value)
        elements[number] = bytes(changed)
    packed = rng.random() < 0.7
    with path.open("wb") as file:
        file.write(header)
        for element in elements:
            if packed:
                body = zlib.compress(element)
                file.write(struct.pack("<II", 15, len(body)) + body)
            else:
                file.write(element)


def _nested_cell(depth: int) -> bytes:
    flags = struct.pack("<IIII", 6, 8, 1, 0)
    sizes, name = struct.pack("<IIii", 5, 8, 1, 1), struct.pack("<II", 1, 0)
    level = len(flags) + len(sizes) + len(name) + 8
    parts = [
        struct.pack("<II", 14, level * (depth - number) - 8) + flags + sizes + name
        for number in range(depth)
    ]
    return b"".join(parts) + struct.pack("<II", 14, 0)


def craft_hdf5(path: Path, rng: np.random.Generator) -> None:
    """Change values, sizes and links of an HDF5 file by its own library."""
    import h5py

    with h5py.File(path, "r+") as file:
        places: list[str] = []
        file.visit(places.append)
        datasets = [place for place in places if isinstance(file[place], h5py.Dataset)]
        place = datasets[rng.integers(len(datasets))]
        kind = rng.integers(9)
        if kind <= 2:
            inner = [p for p in datasets if p.split("/")[-1] in ("indices", "indptr", "ir", "jc")]
            place = inner[rng.integers(len(inner))] if inner and kind < 2 else place
            dataset = file[place]
            if dataset.dtype.kind in "fiu" and dataset.size:
                dataset[...] = (
                    _odd_values(dataset[...], rng).astype(dataset.dtype).reshape(dataset.shape)
                )
        elif kind == 3:  # links to other files, to elsewhere, to itself
            del file[place]
            file[place] = [
                h5py.ExternalLink("/etc/hostname", "/"),
                h5py.SoftLink("/"),
                h5py.SoftLink(f"/{place}"),
            ][rng.integers(3)]
        elif kind == 4:
            file[f"{place}_loop"] = file["/"]
        elif kind == 5:  # sizes without values
            dtype = file[place].dtype
            shape = [(2**40, 6), (40, 2**36), (2**62,), (3,), (1,)][rng.integers(5)]
            attributes = dict(file[place].attrs)
            del file[place]
            made = file.create_dataset(place, shape, dtype, chunks=tuple(min(s, 64) for s in shape))
            made.attrs.update(attributes)
        elif kind == 6:
            del file[place]
            if rng.random() < 0.5:
                file.create_dataset(place, data=[Path("/etc/hostname").name] * 40)
        elif kind == 7:
            _change_attribute(file, places, rng)
        else:
            dtype = file[place].dtype
            del file[place]
            if rng.random() < 0.5:
                file.create_dataset(place, (40, 6), "f8", external=[("/etc/hostname", 0, 1920)])
            else:
                layout = h5py.VirtualLayout((40, 6), "f8")
                layout[:] = h5py.VirtualSource("/etc/hostname", "x", (40, 6))
                file.create_virtual_dataset(place, layout)


def _change_attribute(file: Any, places: list[str], rng: np.random.Generator) -> None:
    holders = [place for place in places if len(file[place].attrs)]
    if holders:
        holder = file[holders[rng.integers(len(holders))]]
        name = list(holder.attrs)[rng.integers(len(holder.attrs))]
        odd = [
            "",
            "csr_matrix",
            "dataframe",
            0,
            -1,
            2**62,
            [2**40, 6],
            np.arange(3),
            "é",
            "a" * 10_000,
        ]
        holder.attrs[name] = odd[rng.integers(len(odd))]


def craft_csv(path: Path, rng: np.random.Generator) -> None:
    """Put odd cells, headers, rows and bytes into a table."""
    comma = "\t" if path.suffix == ".tsv" else ","
    rows = [line.split(comma) for line in path.read_text().splitlines()]
    odd = [
        "", "nan", "inf", "-inf", "1e300", "-1e308", "1e400", "0x10", "1_0", "\0", '"', '""', "'",
        "é", "\u202e", "=1+1", "1,5", " 3 ", "9" * 400, "a" * 200_000, "\r", "NULL", "#N/A",
        "-1", "2.5", "s1", "true",
    ]  # fmt: skip
    for _ in range(int(rng.integers(1, 6))):
        kind, row = rng.integers(8), int(rng.integers(len(rows)))
        if kind <= 3 and rows[row]:
            rows[row][rng.integers(len(rows[row]))] = odd[rng.integers(len(odd))]
        elif kind == 4:
            rows[0] = [rows[0][rng.integers(len(rows[0]))] for _ in rows[0]] or [""]
        elif kind == 5:
            rows[row] = rows[row][: int(rng.integers(len(rows[row]) + 1))]
        elif kind == 6:
            rows.insert(row, list(rows[rng.integers(len(rows))]))
        else:
            rows[row] += ["1"]
        rows[0] = rows[0] or [""]
    text = ("\n", "\r\n", "\r")[rng.integers(3)].join(comma.join(row) for row in rows)
    encoding = ("utf-8", "utf-8", "utf-16", "utf-8-sig", "cp1252")[rng.integers(5)]
    path.write_bytes(text.encode(encoding, errors="replace"))


CRAFTS: dict[str, list[Callable[[Path, np.random.Generator], None]]] = {
    "npz": [craft_npz],
    "npy": [craft_npy],
    "mat5": [craft_mat5],
    "hdf5": [craft_hdf5],
    "csv": [craft_csv],
    "tsv": [craft_csv],
    "zip": [craft_zip],
    "xlsx": [craft_xlsx],
    **{suffix[1:]: [packed_craft(craft_csv)] for suffix in PACKERS},
}


def import_libraries() -> None:
    """Import before the first fork what every case needs."""
    import scipy.io

    import manyview.data.io.readers
    import manyview.methods

    for library in ("h5py", "anndata", "mudata", "pandas", "pyarrow", "openpyxl"):
        __import__(library)
    assert scipy.io
    assert manyview.methods.METHODS["knn"]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import_libraries()
    sys.exit(main("fuzz_inputs", case, n_cases=10_000, limits=LIMITS, prepare=prepare, batch=20))
