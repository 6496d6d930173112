"""Change queries at random, and see whether cases, audit and transformations notice.

    PYTHONPATH=. python tests/mutation/run.py --count 300 --jobs 2

Each mutant is one changed operator, constant, join or aggregate of one query. A line tells what
noticed it. Read those that nothing noticed: one that changes a value that users see needs an
identity or a case. One that can't change any gets an entry in equivalents.toml, which says why.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from tests.mutation.by_audit import Recordings
from tests.mutation.by_cases import Case, Cases, NoQueryError, nearest_cases
from tests.mutation.by_changed_cases import ChangedCases
from tests.mutation.by_options import OptionsOfCases
from tests.mutation.by_stores import RecountedCases
from tests.mutation.by_transformations import Transformations
from tests.mutation.catalogs import replaced, standing_upon
from tests.mutation.equivalents import equivalents, key_of
from tests.mutation.sites import Mutation, mutations
from tracekit.catalog import catalog

QUERIES = Path(__file__).resolve().parents[2] / "queries"
#: Asked about the queries that a mutant changes, and cases whose answer it changes.
Judge = Callable[[Collection[str], Sequence[Case]], str | None]
#: Of a query that hundreds stand upon, the cases of the nearest are asked; behind the first whose
#: answer is another, so many more.
_MAX_CASES, _MAX_CHANGED_CASES = 90, 20


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutation, and what noticed it, by who was asked."""

    place: str
    change: str
    noticed: dict[str, str | None]

    def __str__(self) -> str:
        """Return the line about it."""
        by = ", ".join(f"{who}: {what or '-'}" for who, what in self.noticed.items())
        mark = " " if any(self.noticed.values()) else "!"
        return f"{mark} {self.place}: {self.change}  [{by}]"


def every_mutation(seed: int, only: str) -> list[Mutation]:
    """Return all mutations but equivalent ones, of queries that `only` is in, in random order.

    The order of two does not depend on the others, so that a seed stands for almost the same
    mutants after other queries have changed.
    """
    equal = equivalents()
    named = [query for query in catalog().values() if only in query.name]
    found = [m for query in named for m in mutations(query) if key_of(m) not in equal]
    return sorted(found, key=lambda m: random.Random(repr((seed, *key_of(m), m.start))).random())


def judged_mutant(mutation: Mutation, cases: Cases, others: Mapping[str, Judge]) -> Mutant:
    """Ask cases about a mutant, and the others until one of them has noticed it."""
    affected = standing_upon(mutation.query.name)
    with replaced(mutation.mutant):
        nearest = iter(nearest_cases(affected, _MAX_CASES))
        changed = list(islice(cases.changed(nearest), 1))
        noticed = {"cases": str(changed[0]) if changed else None}
        if changed:
            changed += cases.changed(islice(nearest, _MAX_CHANGED_CASES))
        for name, judge in others.items():
            noticed[name] = judge(affected, changed)
            if noticed[name]:
                break
    file = QUERIES / mutation.query.kind / f"{mutation.query.name}.sql"
    place = f"{file.relative_to(QUERIES.parent)}:{mutation.line_number(file.read_text('utf-8'))}"
    return Mutant(place, f"{' '.join(mutation.before.split())} -> {mutation.after}", noticed)


def mutants(count: int, given: list[Mutation]) -> list[Mutant]:
    """Return `count` mutants of these mutations that are valid SQL; print each at once."""
    found = list[Mutant]()
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        cases = Cases(Path(folder) / "cases")
        recordings = Recordings(Path(folder))
        transformations = Transformations(Path(folder) / "changed")
        others = {
            "recounted cases": RecountedCases(Path(folder) / "recounted").first_contradiction,
            "audit": lambda affected, _: recordings.first_contradiction(affected),
            "transformations": lambda affected, _: transformations.first_contradiction(affected),
            "changed cases": ChangedCases(Path(folder) / "changed cases").first_contradiction,
            "options of cases": OptionsOfCases(
                Path(folder) / "options of cases"
            ).first_contradiction,
        }
        for mutation in given:
            if len(found) == count:
                break
            try:
                found.append(judged_mutant(mutation, cases, others))
            except NoQueryError:
                continue
            print(found[-1], flush=True)
    return found


def score(found: list[Mutant]) -> str:
    """Return how many mutants were noticed: by cases, by the others, and by any of them."""
    by_cases = [mutant.noticed["cases"] is not None for mutant in found]
    by_others = [any([*mutant.noticed.values()][1:]) for mutant in found]
    by_any = [one or other for one, other in zip(by_cases, by_others, strict=True)]
    return "\n".join(
        f"noticed by {name}: {sum(flags)} of {len(found)} ({sum(flags) / max(len(found), 1):.0%})"
        for name, flags in (
            ("cases", by_cases),
            ("audit or transformations", by_others),
            ("any", by_any),
        )
    )


def main() -> None:
    """Print a line per mutant, and the score."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="how many mutants")
    parser.add_argument("--seed", type=int, default=42, help="which ones")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    parser.add_argument("--only", default="", help="only queries whose name has this")
    chosen = parser.parse_args()
    given = every_mutation(chosen.seed, chosen.only)
    shares = [given[job :: chosen.jobs] for job in range(chosen.jobs)]
    counts = [len(range(job, chosen.count, chosen.jobs)) for job in range(chosen.jobs)]
    with ProcessPoolExecutor(chosen.jobs, get_context("spawn")) as pool:
        parts = pool.map(mutants, counts, shares)
        print(score([mutant for part in parts for mutant in part]))


if __name__ == "__main__":
    main()
