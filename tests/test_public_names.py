"""The door: `manyview` offers exactly these names."""

import pkgutil

import pytest

import manyview

PUBLIC_NAMES = [
    "CalibrationConfig", "ConfusionMatrixDisplay", "CoverageDisplay", "DataFileError", "Dataset",
    "EmbeddingDisplay", "EstimatedAccuracyDisplay", "FitContext", "FitSummary",
    "GraphLearningConfig", "InputError", "LabelHidingSplit", "LabelIssues", "LabelIssuesDisplay",
    "LearnedGraphDisplay", "METHODS", "MGCNDNSClassifier", "MLflowCallback", "ManyviewClassifier",
    "ManyviewError", "MethodCard", "MultiView", "MultiViewClassifier", "NeighborGraph",
    "NodeSelectionConfig", "PerView", "PseudoLabeler", "ReliabilityDisplay", "Report", "SCORERS",
    "TensorBoardCallback", "TrainingConfig", "TrainingCurveDisplay", "TransductiveViews",
    "ViewImportanceDisplay", "__version__", "annotate", "checkpoints", "config_context",
    "draw_labeled", "from_pyg", "get_config", "hide_labels", "label", "load_dataset",
    "make_multiview_classification", "model_report", "propose_labels", "read_views",
    "register_method", "set_config", "to_pyg", "tune",
]  # fmt: skip


def test_all_is_the_list_kept_here():
    assert sorted(manyview.__all__) == PUBLIC_NAMES


def test_dir_offers_exactly_what_all_lists():
    submodules = {module.name for module in pkgutil.iter_modules(manyview.__path__)}
    offered = {name for name in dir(manyview) if not name.startswith("_")} - submodules
    assert offered == {name for name in manyview.__all__ if not name.startswith("_")}


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_public_name_can_be_imported(name):
    assert getattr(manyview, name) is not None


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = manyview.no_such_name
