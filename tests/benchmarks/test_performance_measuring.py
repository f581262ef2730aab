"""The instruments of the benchmarks: isolated processes, stored rows, clocks."""

import json
import time
from pathlib import Path

import measured_functions
import numpy as np
import pytest
import torch
from performance import small
from performance.bandwidth import product
from performance.block_clock import BLOCKS, BlockClock
from performance.isolated import run_isolated
from performance.stored import Rows, summary
from performance.synthetic_data import synthetic_problem
from performance.training import catch_training
from torch import nn

from manyview import MGCNDNSClassifier, NeighborGraph
from manyview.experiments.limits import Limits

HELPERS = Path(__file__).parent.parent / "helpers"


@pytest.fixture
def _helpers_for_processes(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HELPERS))


@pytest.mark.usefixtures("_helpers_for_processes")
def test_isolated_process_measures_its_peak_above_the_imports():
    outcome = run_isolated(measured_functions.allocate, megabytes=64)
    assert outcome["status"] == "done"
    assert 60 < outcome["first"] < 80
    assert outcome["after"] < 20
    assert outcome["over_all"] == pytest.approx(outcome["first"], abs=2)


@pytest.mark.usefixtures("_helpers_for_processes")
def test_isolated_process_is_terminated_at_its_limits_and_reports_failures():
    slow = run_isolated(measured_functions.sleep, limits=Limits(minutes=0.002), seconds=60)
    assert slow == {"status": "out of time", "reason": "not done in 0.002 minutes"}
    large = run_isolated(measured_functions.sleep, limits=Limits(memory_gb=0.001), seconds=60)
    assert large["status"] == "out of memory"
    failed = run_isolated(measured_functions.fail)
    assert failed == {"status": "failed", "reason": "ValueError: no such luck"}


def test_rows_stay_until_the_code_changes_or_asked_again(tmp_path):
    calls = []

    def measure():
        calls.append(1)
        return {"seconds": len(calls)}

    for again in (False, False, True):
        Rows("one", tmp_path, again=again).measure({"n_samples": 3}, measure)
    assert len(calls) == 2
    path = tmp_path / "one.json"
    stored = json.loads(path.read_text())
    assert stored["rows"] == [{"request": {"n_samples": 3}, "seconds": 2}]
    path.write_text(json.dumps(stored | {"code": "other"}))
    Rows("one", tmp_path).measure({"n_samples": 4}, measure)
    assert [row["request"] for row in json.loads(path.read_text())["rows"]] == [{"n_samples": 4}]


def test_summary_gives_median_and_quartiles():
    assert summary([5, 1, 2, 4, 3]) == {"median": 3, "low": 2, "high": 4, "n": 5}


@pytest.fixture(scope="module")
def training():
    views, labels, _ = synthetic_problem(200, 0.1)
    model = MGCNDNSClassifier(graph=NeighborGraph(n_neighbors=5), random_state=0)
    return catch_training(model, views, labels)


def test_caught_training_trains_and_times_every_epoch(training):
    before = training.network.convolutions[0].weight.detach().clone()
    seconds = training.epochs(4)
    assert len(seconds) == 4
    assert min(seconds) > 0
    assert not torch.equal(before, training.network.convolutions[0].weight)


def test_block_clock_finds_every_block_of_the_classifiers_network(training):
    clock = BlockClock(training.network)
    training.epochs(5)
    fractions = clock.stop()
    assert list(fractions) == list(BLOCKS)
    assert min(fractions.values()) > 0
    assert len(clock.epochs) == 6


class _Slow(torch.autograd.Function):
    """Passes values on, and sleeps on both ways."""

    @staticmethod
    def forward(ctx, values, seconds):
        time.sleep(seconds)
        ctx.seconds = seconds
        return values * 1

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(2 * ctx.seconds)
        return gradient, None


class _Block(nn.Module):
    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, values):
        return _Slow.apply(values * self.weight, self.seconds)


class _Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.fusion, self.graph_learning = _Block(0.01), None
        self.node_selection = _Block(0.03)
        self.convolutions = nn.ModuleList([_Block(0.01), _Block(0.01)])

    def convolve(self, values):
        return self.convolutions[1](self.convolutions[0](values))

    def forward(self, values):
        return self.convolve(self.node_selection(self.fusion(values))) + 1


def test_block_clock_attributes_forward_and_backward_to_their_block(monkeypatch):
    passed = [0.0]  # a clock that only sleeping moves, however busy the machine is
    monkeypatch.setattr(time, "perf_counter", lambda: passed[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: passed.__setitem__(0, passed[0] + seconds))
    network, values = _Network(), torch.ones(3)
    optimizer = torch.optim.Adam(network.parameters())
    clock = BlockClock(network)
    for _ in range(3):
        optimizer.zero_grad()
        network(values).sum().backward()
        optimizer.step()
    fractions = clock.stop()
    # 3 + 9 + 3 + 3 hundredths of a second
    assert fractions["node selection"] == pytest.approx(1 / 2)
    assert fractions["convolution"] == pytest.approx(1 / 3)
    assert fractions["fusion"] == pytest.approx(1 / 6)
    assert fractions["graph learning"] == 0


def test_bytes_of_a_product_count_every_array_once_or_a_row_per_edge(training):
    support = training.inputs.support
    compulsory, gathered, seconds = product(support, 8)
    n_edges, n_samples = support.n_edges, support.n_samples
    assert gathered - compulsory == 4 * 8 * (n_edges - n_samples)
    arrays = (support.columns, support.row_starts, torch.empty(n_edges))
    held = sum(array.numel() * array.element_size() for array in arrays)
    assert compulsory == held + 2 * 4 * 8 * n_samples
    assert seconds > 0


def test_synthetic_problem_hides_labels_and_repeats_itself():
    views, labels, classes = synthetic_problem(300, 0.1)
    again = synthetic_problem(300, 0.1)[0]
    assert all(np.array_equal(one, other) for one, other in zip(views, again, strict=True))
    assert [view.shape for view in views] == [(300, 32)] * 3
    assert (labels[labels != -1] == classes[labels != -1]).all()
    assert 0 < (labels != -1).sum() < 60


def test_older_state_is_a_checkout_or_a_commit(tmp_path):
    (tmp_path / "src" / "manyview").mkdir(parents=True)
    assert small.source_of(str(tmp_path), tmp_path) == tmp_path / "src"
    with pytest.raises(SystemExit, match="neither a checkout nor a commit"):
        small.source_of("nosuchcommit", tmp_path)
