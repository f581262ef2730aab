"""What a study found, in two sentences made from its records."""

from collections import Counter
from collections.abc import Iterable, Mapping

from manyview.experiments.plan import Cell, Entry
from manyview.experiments.study import Study
from manyview.report.comparison import Ranking, ranked
from manyview.report.results import METRICS, Result, dataset_title, point_title, ratio_title

MOST_NAMED = 3
Results = Mapping[Cell, Result]


def findings(study: Study, results: Results) -> list[str]:
    """Say who leads where and how often, or how much a grid matters; two sentences at most."""
    begun = {cell.entry for cell, result in results.items() if result.by_seed}
    if not begun:
        return ["No trial of this study is done yet."]
    plain = [entry for entry in study.plan.entries if not entry.grid and entry.name in begun]
    grids = [entry for entry in study.plan.entries if entry.grid and entry.name in begun]
    if len(plain) > 1:
        return [_leaders(study, plain, results), _order(study, plain, results)]
    if grids:
        return _grid(study, grids[0], results)
    return _single(study, plain[0], results)


def _leaders(study: Study, entries: list[Entry], results: Results) -> str:
    """Count in how many cases each entry is best; equal numbers share a case."""
    titles = {entry.name: _called(entry) for entry in entries}
    cases: dict[tuple[str, float, str], dict[str, float]] = {}
    for cell, result in results.items():
        if cell.entry in titles and not cell.point and result.mean is not None:
            case = cases.setdefault((cell.dataset, cell.label_ratio, cell.protocol), {})
            case[cell.entry] = round(result.mean, 1)
    cases = {place: means for place, means in cases.items() if len(means) > 1}
    if not cases:
        return "No two methods have a result in common yet."
    wins: Counter[str] = Counter()
    for means in cases.values():
        best = max(means.values())
        wins.update(name for name, mean in means.items() if mean == best)
    (first, most), *others = wins.most_common()
    so_far = "So far " if _is_open(study) else ""
    if len(cases) == 1:
        ((dataset, ratio, _), means) = next(iter(cases.items()))
        where = f"{dataset_title(dataset)} with {ratio_title(ratio)}"
        where += f", {means[first]:.1f} %"
        return f"{so_far}{titles[first]} has the highest mean accuracy on {where}."
    is_simple = len(cases) == len({dataset for dataset, _, _ in cases})
    of = "data sets" if is_simple else "cases (a data set with a share of labels)"
    at = "on" if is_simple else "in"
    lead = f"{so_far}{titles[first]} has the highest mean accuracy {at} {most} of {len(cases)} {of}"
    named = [f"{titles[name]} {at} {count}" for name, count in others[:MOST_NAMED]]
    n_more = len(others) - len(named)
    if n_more:
        named.append(f"{n_more} other{'s' if n_more > 1 else ''} {at} fewer")
    ties = "; equal means share a case" if sum(wins.values()) > len(cases) else ""
    return f"{', '.join([lead, *named])}{ties}."


def _is_open(study: Study) -> bool:
    progress = study.progress()
    return progress.n_done + progress.n_failed < progress.n_trials


def _order(study: Study, entries: list[Entry], results: Results) -> str:
    ranking = _ranking(study, entries, results)
    if ranking is None:
        return "There is no case that all methods have, so no average rank."
    order = sorted(
        (cell.value, _called(entry))
        for cell, entry in zip(ranking.cells, entries, strict=True)
        if cell.value is not None
    )
    named = [f"{title} ({rank:.1f})" for rank, title in order[:MOST_NAMED]]
    cases = "one case" if ranking.n_cases == 1 else f"{ranking.n_cases} cases"
    return (
        f"By average rank over the {cases} that all methods have, the order is {', '.join(named)}."
    )


def _ranking(study: Study, entries: list[Entry], results: Results) -> Ranking | None:
    plan = study.plan
    ratios = sorted({ratio for entry in entries for ratio in entry.label_ratios})
    columns = [(d, r, p) for r in ratios for d in plan.datasets for p in plan.protocols]
    grid = [
        [results.get(Cell(d, entry.name, (), r, p)) for d, r, p in columns] for entry in entries
    ]
    return ranked(grid, [dataset for dataset, _, _ in columns], METRICS["accuracy"])


def _grid(study: Study, entry: Entry, results: Results) -> list[str]:
    means: dict[tuple[str, float, str], dict[Cell, float]] = {}
    for cell, result in results.items():
        if cell.entry == entry.name and result.mean is not None:
            place = (cell.dataset, cell.label_ratio, cell.protocol)
            means.setdefault(place, {})[cell] = result.mean
    spans = {place: max(of.values()) - min(of.values()) for place, of in means.items()}
    narrow, wide = min(spans, key=spans.__getitem__), max(spans, key=spans.__getitem__)
    names = " and ".join(entry.grid)
    if len(spans) == 1:
        moved = f"moves by {spans[wide]:.1f} points on {dataset_title(wide[0])}"
    else:
        moved = (
            f"moves by {spans[narrow]:.1f} points on {dataset_title(narrow[0])} and by "
            f"{spans[wide]:.1f} on {dataset_title(wide[0])}, the least and the most"
        )
    best = Counter(point_title(max(of, key=of.__getitem__).point) for of in means.values())
    point, count = best.most_common(1)[0]
    where = f"{count} of {len(means)} data sets" if len(means) > 1 else "it"
    everywhere = "" if count < len(means) else ", so one setting serves all"
    second = (
        f"{point[0].upper()}{point[1:]} is best on {where}{everywhere}."
        if count > 1 or len(means) == 1
        else f"No value is best on more than one of the {len(means)} data sets."
    )
    return [
        f"Over the values of {names} tried, the mean accuracy of {_called(entry)} {moved}.",
        second,
    ]


def _single(study: Study, entry: Entry, results: Results) -> list[str]:
    told = _listed(
        f"{result.mean:.1f} % on {dataset_title(cell.dataset)}"
        + (f" with {ratio_title(cell.label_ratio)}" if len(entry.label_ratios) > 1 else "")
        for cell, result in results.items()
        if cell.entry == entry.name and result.mean is not None
    )
    so_far = "So far " if _is_open(study) else ""
    return [f"{so_far}{_called(entry)} has a mean accuracy of {told}."]


def _called(entry: Entry) -> str:
    """Name an entry in a sentence; one that is a word of the language stands in quotes."""
    return entry.title if entry.title != entry.title.lower() else f"“{entry.title}”"


def _listed(words: Iterable[str]) -> str:
    *head, last = words
    return f"{', '.join(head)} and {last}" if head else last
