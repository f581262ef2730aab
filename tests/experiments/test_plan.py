"""Plan files: their content, and refused ones."""

import pytest

from manyview.errors import PlanError
from manyview.experiments.plan import load_plan, plan_names
from manyview.methods import METHODS

SHIPPED = [
    "ablation",
    "accuracy",
    "adjacency",
    "as-printed",
    "convergence",
    "few-labels",
    "gamma-tau",
    "learning-rate",
    "neighbors",
    "other-data",
    "protocols",
    "quick",
    "ratios",
    "raw-features",
    "shares",
    "weights",
]


def test_all_plans_are_shipped():
    assert plan_names() == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_plan_names_real_methods_data_sets_and_parameters(name):
    from manyview.data.catalog.load import find_card

    plan = load_plan(name)
    assert plan.title
    assert plan.about.strip()
    for dataset in plan.datasets:
        assert find_card(dataset).name == dataset
    for dataset, rows in plan.paper.items():
        assert dataset in plan.datasets
        assert set(rows) <= {entry.name for entry in plan.entries}
    assert plan.cells()


def test_main_table_has_every_number_of_the_paper():
    plan = load_plan("accuracy")
    numbers = [
        pair for rows in plan.paper.values() for row in rows.values() for pair in row.values()
    ]
    assert len(numbers) == 13 * 8 * 2 - 4  # HLR-M2VS has none on two data sets
    assert plan.paper["mnist"]["mgcn-dns"] == {0.01: (88.0, 1.3), 0.1: (90.2, 0.6)}
    assert plan.paper["youtube"]["mlan"][0.01] == (2.5, 0.2)
    later = {"grand", "logistic-regression", "random-forest", "hist-gradient-boosting"}
    assert {entry.method for entry in plan.entries} == set(METHODS) - {"manyview"} - later


def test_entry_may_have_protocols_of_its_own(write_plan):
    plan = load_plan(
        str(
            write_plan(
                'title = "t"\ndatasets = ["{data}"]\nprotocols = ["stratified", "random"]\n'
                'seeds = [0]\n[methods.knn]\nprotocols = ["random"]\n[methods.svm]\n'
            )
        )
    )
    assert [(cell.entry, cell.protocol) for cell in plan.cells()] == [
        ("knn", "random"),
        ("svm", "stratified"),
        ("svm", "random"),
    ]
    assert plan.n_trials == 3


def test_grid_gives_all_combinations_and_none_is_null(write_plan):
    plan = load_plan(
        str(
            write_plan(
                'title = "t"\ndatasets = ["{data}"]\nlabel_ratios = [0.1, 0.2]\nseeds = [4]\n'
                '[methods.ours]\nmethod = "mgcn-dns"\nparams = { node_selection = "none" }\n'
                "grid = { gamma = [1.0, 2.0], tau = [0.1, 0.2, 0.3] }\n"
            )
        )
    )
    cells = plan.cells()
    assert len(cells) == 2 * 6
    trial = next(iter(cells.values()))[0]
    assert dict(trial.params) == {
        "node_selection": None, "graph_learning__gamma": 1.0, "node_selection__tau": 0.1,
    }  # fmt: skip
    assert (trial.method, trial.seed, trial.label_ratio) == ("mgcn-dns", 4, 0.1)
    assert next(iter(cells)).point == (("gamma", 1.0), ("tau", 0.1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "is not TOML"),
        ('datasets = ["digits"]\n[methods.knn]', "must name its title"),
        ('title = "t"\n[methods.knn]', "must name its datasets"),
        ('title = "t"\ndatasets = ["digits"]', "must name its methods"),
        (
            'title = "t"\ndatasets = "digits"\n[methods.knn]',
            "must be a list of names; got 'digits'",
        ),
        ('title = "t"\ndatasets = ["digits"]\n[methods.knm]', "Did you mean 'knn'?"),
        (
            'title = "t"\ndatasets = ["digits"]\nseed = [0]\n[methods.knn]',
            "has no setting 'seed'. Did you mean 'seeds'?",
        ),
        (
            'title = "t"\ndatasets = ["digits"]\nseeds = [-1]\n[methods.knn]',
            "must be whole numbers from 0; got -1",
        ),
        (
            'title = "t"\ndatasets = ["digits"]\nlabel_ratios = [10]\n[methods.knn]',
            "must be between 0 and 1; got 10",
        ),
        (
            'title = "t"\ndatasets = ["digits"]\nprotocols = ["strat"]\n[methods.knn]',
            "must be one of 'stratified', 'random'; got 'strat'",
        ),
        (
            'title = "t"\ndatasets = ["digits"]\n[methods.knn]\nparams = { neighbors = 3 }',
            "KNNClassifier has no parameter 'neighbors'. Did you mean 'n_neighbors'?",
        ),
        (
            'title = "t"\ndatasets = ["digits"]\n[methods.knn]\nparams = { random_state = 3 }',
            "may not set random_state",
        ),
        (
            'title = "t"\ndatasets = ["digits"]\nartifacts = ["all"]\n[methods.knn]',
            "must be one of 'curve', 'weights', 'graphs'; got 'all'",
        ),
        (
            'title = "t"\ndatasets = ["digits"]\n[methods.knn]\n[paper.digits]\nknn = 3',
            "must hold data set -> method",
        ),
    ],
)
def test_wrong_plan_is_refused_in_one_sentence(write_plan, text, message):
    with pytest.raises(PlanError) as error:
        load_plan(str(write_plan(text)))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


HEAD = 'title = "t"\ndatasets = ["digits"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 5000, "is not TOML"),
        (f"{HEAD}seeds = [{'9' * 5000}]\n[methods.knn]", "is not TOML"),
        (f"{HEAD}[methods.knn]\n[methods.knn]", "is not TOML: Cannot declare"),
        (f"{HEAD}seeds = [{10**30}]\n[methods.knn]", "must be at most 4294967295; got 1000"),
        (f"{HEAD}seeds = 3\n[methods.knn]", "must be a list of whole numbers from 0; got 3"),
        (f"{HEAD}seeds = [true]\n[methods.knn]", "must be whole numbers from 0; got True"),
        (f"{HEAD}seeds = []\n[methods.knn]", "must not be empty"),
        (f"{HEAD}seeds = [0, 1, 0]\n[methods.knn]", "must differ from each other; 0 is there"),
        (f"{HEAD}label_ratios = [nan]\n[methods.knn]", "must be between 0 and 1; got nan"),
        (f"{HEAD}label_ratios = {{ a = 1 }}\n[methods.knn]", "must be a list of numbers between"),
        (f"{HEAD}artifacts = 7\n[methods.knn]", "must be a list of names; got 7"),
        (f"{HEAD}about = 2020-01-01\n[methods.knn]", "must be text; got datetime.date(2020, 1, 1)"),
        ('title = 1\ndatasets = ["digits"]\n[methods.knn]', "title of"),
        ('title = "t\\u0000"\ndatasets = ["digits"]\n[methods.knn]', "control characters"),
        ('title = "t"\ndatasets = ["a\\u0000b"]\n[methods.knn]', "control characters"),
        ('title = "t"\ndatasets = ["digits", "digits"]\n[methods.knn]', "is there twice"),
        (f"{HEAD}methods = 3", "must be a table of settings by name; got 3"),
        (f"{HEAD}methods = {{ knn = 3 }}", "[methods.knn] of"),
        (f"{HEAD}[methods.knn]\nmethod = []", "must be text; got []"),
        (f"{HEAD}[methods.knn]\nparams = 3", "must be a table of settings by name; got 3"),
        (f"{HEAD}[methods.knn]\nparams = {{ n_neighbors = 10:00:00 }}", "must be a number, text"),
        (f"{HEAD}[methods.knn]\ngrid = {{ n_neighbors = 3 }}", "must be a list of values to try"),
        (
            f"{HEAD}[methods.knn]\ngrid = {{ n_neighbors = [[3]] }}",
            "must be values to try; got [3]",
        ),
        (f"{HEAD}[methods.knn]\ngrid = {{ n_neighbors = [1, 1.0] }}", "1.0 is there twice"),
        (f"{HEAD}[methods.knn]\ngrid = {{ n_neighbors = [] }}", "must not be empty"),
        (
            f"{HEAD}[methods.knn]\nparams = {{ n_neighbors = 3 }}\ngrid = {{ n_neighbors = [4] }}",
            "in its params and in its grid",
        ),
        (
            f"{HEAD}[methods.mgcn-dns]\nparams = {{ tau = 1.0, node_selection__tau = 2.0 }}",
            "sets 'node_selection__tau' twice",
        ),
        (f"{HEAD}[methods.knn]\nmax_memory = {10**400}", "must be above 0; got 1000"),
        (f'{HEAD}[methods.knn]\ndatasets = ["digit"]', "Did you mean 'digits'?"),
        (f"{HEAD}[methods.knn]\n[paper.digits]\nknn = {{ a = 3 }}", "must hold data set"),
        (f'{HEAD}[methods.knn]\n[paper.digits]\nknn = {{ "0.1" = [nan, 1] }}', "must hold data"),
        (
            f"{HEAD}[methods.mgcn-dns]\ngrid = {{ tau = {[one / 7 for one in range(1, 999)]}, "
            f"gamma = {list(range(1, 999))} }}",
            "has 4,980,020 trials, more than the 1,000,000 of one study",
        ),
    ],
)
def test_plan_with_a_wrong_type_or_number_is_refused_in_one_sentence(write_plan, text, message):
    with pytest.raises(PlanError) as error:
        load_plan(str(write_plan(text)))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "", "."])
def test_name_that_no_plan_can_have_is_refused(name):
    with pytest.raises(PlanError, match="There is no plan"):
        load_plan(name)


def test_unknown_plan_is_refused_with_the_nearest():
    with pytest.raises(PlanError, match="Did you mean 'accuracy'"):
        load_plan("acuracy")
