"""The findings of a study in one or two sentences, from its records."""

from collections import Counter
from collections.abc import Iterable

from manyview.experiments.plan import Cell, Entry
from manyview.experiments.study import Study
from manyview.report.study.comparison import Ranking, ranked
from manyview.report.study.results import (
    METRICS,
    Results,
    begun_entries,
    counted_datasets,
    dataset_title,
    is_own,
    point_title,
    ratio_title,
)

MAX_NAMED = 3


def findings(study: Study, results: Results) -> list[str]:
    """Name the leading methods, or the effect of a grid; at most two sentences."""
    begun = begun_entries(results)
    if not begun:
        return ["No trial of this study has finished yet."]
    plain = [entry for entry in study.plan.entries if not entry.grid and entry.name in begun]
    grids = [entry for entry in study.plan.entries if entry.grid and entry.name in begun]
    if len(plain) > 1:
        return [_leaders(study, plain, results), _order(study, plain, results)]
    if grids:
        return _grid(grids[0], results)
    return [_single(study, plain[0], results)]


def _leaders(study: Study, entries: list[Entry], results: Results) -> str:
    """Count in how many cases each entry is best; ties count for all of them."""
    titles = {entry.name: _called(entry) for entry in entries}
    cases: dict[tuple[str, float, str], dict[str, float]] = {}
    counted = counted_datasets(study.plan.datasets)
    for cell, result in results.items():
        is_plain = cell.entry in titles and not cell.point and cell.dataset in counted
        if is_plain and result.mean is not None:
            case = cases.setdefault((cell.dataset, cell.label_ratio, cell.protocol), {})
            case[cell.entry] = round(result.mean, 1)
    cases = {place: means for place, means in cases.items() if len(means) > 1}
    if not cases:
        return "No two methods have results on the same data set yet."
    wins: Counter[str] = Counter()
    for means in cases.values():
        best = max(means.values())
        wins.update(name for name, mean in means.items() if mean == best)
    (first, most), *others = wins.most_common()
    if len(cases) == 1:
        ((dataset, ratio, _), means) = next(iter(cases.items()))
        where = f"{dataset_title(dataset)} with {ratio_title(ratio)}, {means[first]:.1f}%"
        return f"{_so_far(study)}{titles[first]} has the highest mean accuracy on {where}."
    is_simple = len(cases) == len({dataset for dataset, _, _ in cases})
    of = "data sets" if is_simple else "cases (pairs of data set and label ratio)"
    at = "on" if is_simple else "in"
    lead = f"{titles[first]} has the highest mean accuracy {at} {most} of {len(cases)} {of}"
    named = [f"{titles[name]} {at} {count}" for name, count in others[:MAX_NAMED]]
    n_more = len(others) - len(named)
    if n_more:
        named.append(f"{n_more} other{'s' if n_more > 1 else ''} {at} fewer")
    ties = "; ties count for every method involved" if sum(wins.values()) > len(cases) else ""
    return f"{_so_far(study)}{', '.join([lead, *named])}{ties}."


def _so_far(study: Study) -> str:
    progress = study.progress()
    return "So far, " if progress.n_done + progress.n_failed < progress.n_trials else ""


def _order(study: Study, entries: list[Entry], results: Results) -> str:
    ranking = _ranking(study, entries, results)
    if ranking is None:
        return "No case has results of all methods, so there are no average ranks."
    order = sorted(
        (cell.value, _called(entry))
        for cell, entry in zip(ranking.cells, entries, strict=True)
        if cell.value is not None
    )
    named = [f"{title} ({rank:.1f})" for rank, title in order[:MAX_NAMED]]
    cases = "one case" if ranking.n_cases == 1 else f"{ranking.n_cases} cases"
    return (
        f"The best average ranks, over the {cases} with results of all methods: {', '.join(named)}."
    )


def _ranking(study: Study, entries: list[Entry], results: Results) -> Ranking | None:
    plan = study.plan
    ratios = sorted({ratio for entry in entries for ratio in entry.label_ratios})
    columns = [(d, r, p) for r in ratios for d in plan.datasets for p in plan.protocols]
    grid = [
        [results.get(Cell(d, entry.name, (), r, p)) for d, r, p in columns] for entry in entries
    ]
    return ranked(grid, [dataset for dataset, _, _ in columns], METRICS["accuracy"])


def _grid(entry: Entry, results: Results) -> list[str]:
    means: dict[tuple[str, float, str], dict[Cell, float]] = {}
    counted = counted_datasets(entry.datasets)
    for cell, result in results.items():
        if cell.entry == entry.name and result.mean is not None and cell.dataset in counted:
            place = (cell.dataset, cell.label_ratio, cell.protocol)
            means.setdefault(place, {})[cell] = result.mean
    spans = {place: max(of.values()) - min(of.values()) for place, of in means.items()}
    narrow, wide = min(spans, key=spans.__getitem__), max(spans, key=spans.__getitem__)
    names = " and ".join(entry.grid)
    varies = f"varies by {spans[narrow]:.1f} points on {dataset_title(narrow[0])}"
    if len(spans) > 1:
        varies += f" (least) and by {spans[wide]:.1f} points on {dataset_title(wide[0])} (most)"
    best = Counter(point_title(max(of, key=of.__getitem__).point) for of in means.values())
    point, count = best.most_common(1)[0]
    if count > 1 or len(means) == 1:
        where = f" on {count} of {len(means)} data sets" if len(means) > 1 else ""
        second = f"{point[0].upper()}{point[1:]} is best{where}."
    else:
        second = f"No value is best on more than one of the {len(means)} data sets."
    return [
        f"Over the tested values of {names}, the accuracy of {_called(entry)} {varies}.",
        second,
    ]


def _single(study: Study, entry: Entry, results: Results) -> str:
    means = _listed(
        f"{result.mean:.1f}% on {dataset_title(cell.dataset)}"
        + (f" with {ratio_title(cell.label_ratio)}" if len(entry.label_ratios) > 1 else "")
        for cell, result in results.items()
        if cell.entry == entry.name and result.mean is not None
    )
    return f"{_so_far(study)}{_called(entry)} has a mean accuracy of {means}."


def _called(entry: Entry) -> str:
    """Name an entry in a sentence; lower-case titles other than our methods' stand in quotes."""
    is_name = is_own(entry) or entry.title != entry.title.lower()
    return entry.title if is_name else f"“{entry.title}”"


def _listed(words: Iterable[str]) -> str:
    *head, last = words
    return f"{', '.join(head)} and {last}" if head else last
