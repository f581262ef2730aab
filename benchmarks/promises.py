"""The page "What manyview promises": its numbers are those of `results/soak.jsonl`.

Each campaign of `tests/soak` adds one line with `--record`:

    python -m tests.soak fuzz_inputs --seed 5 --record

`benchmarks/result_pages.py` makes `docs/promises.md` from these lines.
"""

from collections import Counter
from pathlib import Path

from formatting import table
from stored_records import RESULTS, read

RECORDS = RESULTS / "soak.jsonl"
TEMPLATE = Path(__file__).parent / "templates" / "promises.md"
CAMPAIGNS = {  # name -> what one case is
    "fuzz_inputs": "a damaged or crafted data file, read and used",
    "fuzz_models": "a damaged or re-signed model file, loaded and used",
    "outputs": "a command killed while it writes, without room, or without permission",
    "stores kill": "a study whose runners and workers are killed, then completed",
    "stores tune": "a tuning that is killed, then completed",
    "stores damage": "a store with damaged records",
    "api_problems": "a random problem, fitted twice by a random method",
    "plans": "fifty fuzzed plan files",
    "pages": "a report whose names want to break out",
    "leaks": "hundreds of fits in one process",
}


def newest():
    """Return the last record of every campaign, seed and first case."""
    found = {(one["campaign"], one["seed"], one["first"]): one for one in read(RECORDS)}
    return list(found.values())


def of_campaign(name):
    return [record for record in newest() if record["campaign"] == name]


def total(name, field):
    """Return the sums of a field of all records of a campaign."""
    sums = Counter()
    for record in of_campaign(name):
        sums.update(record[field])
    return sums


def n_cases(name):
    return sum(record["cases"] for record in of_campaign(name))


def n_kills():
    return sum(total(name, "counts")["kills"] for name in CAMPAIGNS)


def campaign_table():
    """Return one row per campaign that has run."""
    rows = []
    for name, what in CAMPAIGNS.items():
        records = of_campaign(name)
        if not records:
            continue
        counts = total(name, "counts")
        more = f", {counts['kills']:,} kills" if counts["kills"] else ""
        seeds = ", ".join(str(seed) for seed in sorted({one["seed"] for one in records}))
        codes = ", ".join(f"`{code}`" for code in dict.fromkeys(one["code"] for one in records))
        rows.append([
            f"`{name}`", what + more, f"{n_cases(name):,}",
            f"{total(name, 'violations').total()}", seeds, codes,
        ])  # fmt: skip
    return table(["campaign", "one case", "cases", "violations", "seed", "code"], rows, n_words=2)


def page():
    """Return the text of the page."""
    models = total("fuzz_models", "counts")
    n_violations = sum(total(name, "violations").total() for name in CAMPAIGNS)
    return TEMPLATE.read_text().format(
        inputs=f"{n_cases('fuzz_inputs'):,}",
        models=f"{n_cases('fuzz_models'):,}",
        n_plain=f"{models['plain']:,}",
        n_signed=f"{models['re-signed']:,}",
        kills=f"{n_kills():,}",
        problems=f"{n_cases('api_problems'):,}",
        violations=n_violations,
        campaigns=campaign_table(),
    )
