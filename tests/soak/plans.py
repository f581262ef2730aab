"""Fuzzed plan files: one sentence each, or a study that every verb can show.

    python -m tests.soak.plans --cases 200

A case is fifty plans that hypothesis draws: healthy ones with a few values of another type, size
or shape anywhere, and damaged text.
"""

import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

from manyview.errors import DataFileError, ManyviewError, PlanError
from manyview.experiments.plan import ENTRY_KEYS, KEYS, load_plan
from manyview.experiments.study import Study
from tests.soak.campaign import Limits, Violation, main

LIMITS = Limits(seconds=300, memory_gb=2.0)
N_PLANS = 50  # per case
N_SHOWN = 200  # trials of a plan up to which its study is shown
ODD = st.one_of(
    st.none(),  # leaves the setting out
    st.integers(),
    st.sampled_from([-1, 0, 2**32, 10**30, 10**400, 1e308, -0.0]),
    st.floats(),
    st.booleans(),
    st.dates(),
    st.text(max_size=6),
    st.sampled_from(["", "none", "knn", "digits", "\0", "x" * 300, "../..", "~nosuchuser", "/"]),
    st.just([]),
    st.just({}),
    st.lists(st.one_of(st.integers(-2, 3), st.floats(0, 1), st.text(max_size=3)), max_size=4),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
    st.just([[0.1]]),
    st.just([{"a": 1}]),
)
HEALTHY: dict[str, Any] = {
    "title": "t",
    "about": "for tests",
    "datasets": ["digits"],
    "label_ratios": [0.1, 0.2],
    "seeds": [0, 1],
    "protocols": ["stratified"],
    "artifacts": ["curve"],
    "methods": {
        "knn": {},
        "mine": {
            "method": "mgcn-dns",
            "title": "mine",
            "params": {"hidden": 8, "node_selection": "none"},
            "grid": {"gamma": [0.5, 1.0]},
            "seeds": [3],
            "max_memory": 2.0,
        },
    },
    "paper": {"digits": {"knn": {"0.1": [80.0, 1.0]}}},
}


def paths_in(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the paths of all values in nested tables and lists."""
    inner: Any = ()
    if isinstance(document, dict):
        inner = document.items()
    elif isinstance(document, list):
        inner = enumerate(document)
    return [path] * bool(path) + [
        found for key, value in inner for found in paths_in(value, (*path, key))
    ]


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return the document with the value of a path replaced; None takes it out."""
    if not path:
        return value
    if isinstance(document, dict):
        new = {**document, path[0]: changed(document.get(path[0]), path[1:], value)}
        return {key: one for key, one in new.items() if one is not None}
    if isinstance(document, list) and isinstance(path[0], int) and path[0] < len(document):
        new_list = list(document)
        new_list[path[0]] = changed(document[path[0]], path[1:], value)
        return [one for one in new_list if one is not None]
    return document


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a plan with one to three odd values anywhere."""
    document: Any = HEALTHY
    for _ in range(draw(st.integers(1, 3))):
        new = st.sampled_from(
            [("methods", "mine", key) for key in ENTRY_KEYS] + [(k,) for k in KEYS]
        )
        path = draw(st.one_of(st.sampled_from(paths_in(HEALTHY)), new))
        document = changed(document, path, draw(ODD))
    return document if isinstance(document, dict) else {}


def as_toml(value: Any) -> str:
    """Write a value as TOML, tables inline."""
    if isinstance(value, dict):
        inner = ", ".join(f"{as_toml(str(key))} = {as_toml(one)}" for key, one in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, str):
        quoted = "".join(
            one if one.isprintable() and one not in '"\\' else f"\\U{ord(one):08x}" for one in value
        )
        return f'"{quoted}"'
    return str(value).lower() if isinstance(value, (bool, float)) else str(value)


@st.composite
def plan_texts(draw: st.DrawFn) -> str:
    """Draw the text of a plan file, sometimes damaged."""
    document = draw(documents())
    text = "\n".join(f"{as_toml(str(key))} = {as_toml(one)}" for key, one in document.items())
    if draw(st.integers(0, 4)) == 0 and text:
        start = draw(st.integers(0, len(text)))
        text = text[:start] + draw(st.text(max_size=5)) + text[start + draw(st.integers(0, 9)) :]
    return text


def check_plan(text: str, folder: Path) -> str:
    """Read a plan; it is refused in one sentence, or its study can be shown."""
    from manyview.report.study.formats import tables_as
    from manyview.report.study.page import study_page
    from manyview.report.study.text import status_text

    file = folder / "plan.toml"
    file.write_text(text, encoding="utf-8", errors="replace")
    try:
        plan = load_plan(str(file))
    except PlanError as error:
        if "\n" in str(error) or len(str(error)) > 2000:
            raise Violation("not one sentence", str(error)) from error
        return "refused"
    if plan.n_trials > N_SHOWN:
        return "large"
    if plan.n_trials != sum(map(len, plan.cells().values())):
        raise Violation("trials miscounted", text)
    try:
        study = Study.open(plan, folder / "store", str(folder))
    except ManyviewError as error:
        if not isinstance(error, DataFileError):
            raise Violation("refused late", f"{error!r}: {text}") from error
        return "data refused"
    status_text(study, 80)
    tables_as(study, "text")
    study_page(study)
    return "shown"


def case(rng: np.random.Generator, folder: Path) -> str:
    """Check fifty plans."""

    @hypothesis.seed(int(rng.integers(2**31)))
    @hypothesis.settings(
        max_examples=N_PLANS,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate],
    )
    @hypothesis.given(plan_texts())
    def check(text: str) -> None:
        try:
            check_plan(text, folder)
        except (Violation, ManyviewError):
            raise
        except BaseException as error:
            raise Violation("foreign exception", f"{error!r} for\n{text}") from error

    check()
    return f"{N_PLANS} plans"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    assert tomllib.loads(as_toml(HEALTHY).replace("{ ", "x = { ", 1))
    sys.exit(main("plans", case, n_cases=200, limits=LIMITS))
