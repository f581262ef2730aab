"""Parameter checks: what passes, what is refused and with which message; random states."""

import numpy as np
import pytest

from manyview.errors import InputError
from manyview.validation import (
    Choice,
    Number,
    OrChoice,
    WholeNumber,
    as_generator,
    check_choice,
    check_constraints,
    check_fraction,
    check_number,
    check_whole_number,
    draw_seed,
)

CONSTRAINTS = {
    "tau": Number(above=0, at_most=1),
    "hidden": WholeNumber(at_least=1),
    "metric": Choice(("cosine", "euclidean")),
    "rank": OrChoice(("auto", None), WholeNumber(at_least=2)),
}
VALID = {"tau": 0.5, "hidden": 8, "metric": "cosine", "rank": "auto"}


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2), np.int64(3)])
def test_numbers_within_bounds_pass(value):
    check_number("tau", value, above=0)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1", None, True])
def test_everything_else_is_refused(value):
    with pytest.raises(InputError, match="tau must be"):
        check_number("tau", value, above=0)


@pytest.mark.parametrize("value", [0, 1.0, "3", None, True])
def test_whole_numbers_must_be_whole_and_large_enough(value):
    with pytest.raises(InputError, match="hidden must be a whole number of at least 1"):
        check_whole_number("hidden", value, at_least=1)


def test_choice_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"way must be one of 'near', None; got 'neer'.*'near'\?"):
        check_choice("way", "neer", ("near", None))
    check_choice("way", None, ("near", None))


@pytest.mark.parametrize("value", [-0.1, 1.1, "1", None, True, float("nan")])
def test_fraction_must_lie_between_0_and_1(value):
    check_fraction("keep", 0)
    check_fraction("keep", 1)
    with pytest.raises(InputError, match="keep must be a number from 0 to 1; got"):
        check_fraction("keep", value)


@pytest.mark.parametrize("rank", ["auto", None, 2])
def test_values_within_their_constraints_pass(rank):
    check_constraints({**VALID, "rank": rank}, CONSTRAINTS)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tau", 0, "tau must be above 0 and at most 1; got 0."),
        ("tau", None, "tau must be a number above 0 and at most 1; got None."),
        ("hidden", 1.5, "hidden must be a whole number of at least 1; got 1.5."),
        ("metric", "cosin", "Did you mean 'cosine'?"),
        ("rank", "outo", "rank must be one of 'auto', None; got 'outo'. Did you mean 'auto'?"),
        ("rank", 1, "rank must be a whole number of at least 2; got 1."),
    ],
)
def test_value_outside_its_constraint_is_refused_with_its_full_name(name, value, message):
    with pytest.raises(InputError) as error:
        check_constraints({**VALID, name: value}, CONSTRAINTS, prefix="graph__")
    assert message in str(error.value)
    assert error.value.parameter == f"graph__{name}"


def test_seed_is_the_number_itself_or_drawn_from_the_generator():
    assert draw_seed(7) == draw_seed(np.int64(7)) == 7
    for make in (np.random.RandomState, np.random.default_rng):
        generator = make(7)
        first, second = draw_seed(generator), draw_seed(generator)
        assert first != second
        assert first == draw_seed(make(7))
    assert draw_seed(None) != draw_seed(None)


def test_generator_is_passed_through_and_a_seed_gives_its_own():
    rng = np.random.default_rng(3)
    assert as_generator(rng) is rng
    assert as_generator(3).integers(100) == np.random.default_rng(3).integers(100)
    one, other = (as_generator(np.random.RandomState(3)).integers(2**30) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("value", [-1, 0.5, "0", True])
def test_anything_else_is_no_random_state(value):
    with pytest.raises(InputError, match="random_state must be") as error:
        as_generator(value)
    assert error.value.parameter == "random_state"
