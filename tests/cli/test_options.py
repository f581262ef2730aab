"""Groups of options: a verb gets dataclasses, typer single options."""

import inspect

import pytest

from manyview.cli.options import DataOptions, ModelOptions, OutputOptions, examples, with_options


def test_group_is_replaced_by_its_options_in_place():
    seen = []

    @with_options
    def verb(*, name: str, output: OutputOptions, last: int = 3) -> None:
        seen.append((name, output, last))

    assert list(inspect.signature(verb).parameters) == [
        "name",
        "quiet",
        "verbose",
        "as_json",
        "last",
    ]
    verb(name="a", quiet=True, verbose=False, as_json=False, last=4)
    assert seen == [("a", OutputOptions(quiet=True), 4)]


@pytest.mark.parametrize(
    ("keys", "expected"), [(None, None), (["a"], "a"), (["a", "b"], ["a", "b"])]
)
def test_data_options_become_a_source(keys, expected):
    options = DataOptions(data_dir="data", views_key=keys, id_column="id")
    source = options.source(["x.csv"], "y.csv", "impute")
    assert (source.names, source.labels, source.data_dir) == (("x.csv",), "y.csv", "data")
    assert source.options.views_key == expected
    assert (source.options.id_column, source.options.missing) == ("id", "impute")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(None, None), ([], None), (["a.csv"], "a.csv"), (["a.csv", "b.csv"], ["a.csv", "b.csv"])],
)
def test_labels_may_be_repeated(labels, expected):
    assert DataOptions().source(["x.csv"], labels).labels == expected
    assert ModelOptions(labels=labels).settings(["x.csv"], DataOptions()).source.labels == expected


def test_output_is_json_text_or_nothing(capsys):
    for options, printed in (
        (OutputOptions(as_json=True), '{\n  "a": 1\n}\n'),
        (OutputOptions(), "text\n"),
        (OutputOptions(quiet=True), ""),
    ):
        options.show(lambda: {"a": 1}, lambda: "text")
        assert capsys.readouterr().out == printed


def test_examples_are_one_per_line():
    assert examples("one", "two") == "\b\nExamples:\n  one\n  two"
