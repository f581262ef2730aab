"""A few seconds of the campaigns on stores, plans and the Python API (`make soak`)."""

import os

import hypothesis
import pytest

from manyview.errors import PlanError
from tests.soak import api_problems, plans, stores
from tests.soak.campaign import run_campaign


@pytest.fixture(scope="module")
def storm(tmp_path_factory):
    """A study and a tuning that nobody disturbed."""
    shared = tmp_path_factory.mktemp("storm")
    stores.import_libraries()
    stores.prepare(shared)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "MANYVIEW_SOAK_SHARED", str(shared))
        yield


@pytest.mark.parametrize(("kind", "n_cases"), [("kill", 1), ("tune", 1), ("damage", 1)])
def test_storm_on_a_store_breaks_no_promise(storm, kind, n_cases, tmp_path):
    case = stores.CASES[kind]
    summary = run_campaign(kind, case, range(n_cases), limits=stores.LIMITS, keep=tmp_path)
    assert not summary.violations, [one.read_text() for one in tmp_path.glob("*/violation.txt")]


def test_random_problems_break_no_promise(tmp_path):
    summary = run_campaign(
        "api", api_problems.case, range(4), limits=api_problems.LIMITS, keep=tmp_path
    )
    assert not summary.violations, [one.read_text() for one in tmp_path.glob("*/violation.txt")]


@hypothesis.settings(
    max_examples=25, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(text=plans.plan_texts())
def test_fuzzed_plan_is_refused_in_one_sentence_or_shown(text, tmp_path):
    assert plans.check_plan(text, tmp_path)


def test_healthy_plan_of_the_fuzzer_is_read(tmp_path):
    file = tmp_path / "plan.toml"
    lines = [f"{key} = {plans.as_toml(value)}" for key, value in plans.HEALTHY.items()]
    file.write_text("\n".join(lines))
    assert plans.load_plan(str(file)).n_trials == 8
    file.write_text("\n".join(lines[1:]))
    with pytest.raises(PlanError, match="must name its title"):
        plans.load_plan(str(file))
