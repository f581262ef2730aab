"""A run that several processes fit: the first writes its folder, the others take part."""

from manyview.distributed.launch import is_member, n_members
from manyview.errors import InputError
from manyview.estimators.network_classifier import NetworkClassifier
from manyview.methods import METHODS, find_method
from manyview.network.resume import SECONDS
from manyview.runs.checkpoints import run_checkpoints
from manyview.runs.fitting import labels_to_show, run_folder
from manyview.runs.recorded_warnings import record_warnings
from manyview.runs.settings import RunSettings
from manyview.validation import check_whole_number


def check_processes(n_processes: int, method: str) -> None:
    """Refuse a number of processes that a method or a launcher cannot have.

    Parameters
    ----------
    n_processes
        That are to be started; 1 starts none.
    method
        By its name.
    """
    check_whole_number("processes", n_processes, at_least=1)
    if is_member() and n_processes not in (1, n_members()):
        raise InputError(
            f"processes must be left out where torchrun starts them; got {n_processes} in a job "
            f"of {n_members()}.",
            parameter="processes",
        )
    n_shared = max(n_processes, n_members())
    if n_shared > 1 and not issubclass(find_method(method), NetworkClassifier):
        able = [name for name, one in METHODS.items() if issubclass(one, NetworkClassifier)]
        raise InputError(
            f"processes must be 1 for the method {method}, which trains in one; got {n_shared}. "
            f"{' and '.join(able)} can share a fit.",
            parameter="processes",
        )


def take_part(settings: RunSettings, *, checkpoint_every: float = SECONDS) -> None:
    """Fit as one of several processes that is not the first; write nothing but its progress."""
    settings.check()
    data = settings.load()
    labels = labels_to_show(data, settings)
    model = settings.build_model(verbose=False)
    with run_checkpoints(run_folder(data, settings), settings.method, checkpoint_every):
        record_warnings(lambda: model.fit(data.views, labels))  # the first process shows them
