"""Changes of counter files (CSV of Nsight Compute, text of perf) and of what is not JSON."""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Callable
from pathlib import Path

from tests.transformations.changes_of_traces import packed
from tests.transformations.documents import plain_name, read_bytes
from tests.transformations.effects import per_source, unchanged
from tests.transformations.making import Changed, Make, Transformation, of_bytes

Rows = list[list[str]]
#: What stands before the column "Metric Name" or the counters: who was launched, and how.
_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?")


def of_rows(change: Callable[[Rows, Rows], Rows]) -> Make:
    """Return what changes the rows of a CSV, given its head (names, units) and launches."""

    def changed(data: bytes) -> bytes:
        before, head, rows = _parts(data)
        text = io.StringIO()
        csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(change(head, rows))
        return before + text.getvalue().encode()

    return of_csv(of_bytes(changed))


def of_csv(make: Make) -> Make:
    def only(path: Path, folder: Path) -> Changed | None:
        return make(path, folder) if b'"ID","Process ID"' in read_bytes(path) else None

    return only


def _parts(data: bytes) -> tuple[bytes, Rows, Rows]:
    """Return what stands before the table, its head and its rows."""
    start = data.index(b'"ID"')
    rows = list(csv.reader(io.StringIO(data[start:].decode(), newline="")))
    heads = 2 if rows[1][0] == "" else 1
    return data[:start], rows[:heads], rows[heads:]


def permuted(head: Rows, rows: Rows) -> Rows:
    """Launches in another order; the rows of a launch stay in theirs."""
    ids = sorted({row[0] for row in rows})
    random.Random(7).shuffle(ids)
    return head + sorted(rows, key=lambda row: ids.index(row[0]))


def renumbered(head: Rows, rows: Rows) -> Rows:
    return head + [[str(int(row[0]) + 1000), *row[1:]] for row in rows]


def with_other_processes(head: Rows, rows: Rows) -> Rows:
    return head + [[row[0], str(int(row[1]) + 1000), *row[2:]] for row in rows]


def with_a_metric(head: Rows, rows: Rows) -> Rows:
    """A metric that no report uses: a column, or a row of each launch."""
    name = "smsp__unheard_of_things.sum"
    if "Metric Name" not in head[0]:
        heads = [[*row, text] for row, text in zip(head, (name, "inst"), strict=False)]
        return heads + [[*row, "7"] for row in rows]
    at = head[0].index("Metric Name")
    done = list(head)
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        done.append(row)
        if following is None or following[0] != row[0]:  # the last of a launch
            done.append([*row[:at], name, "inst", "7", *("" for _ in row[at + 3 :])])
    return done


def without_separators(head: Rows, rows: Rows) -> Rows:
    """1,617,344 becomes 1617344."""
    return head + [[_plain(cell) for cell in row] for row in rows]


def _plain(cell: str) -> str:
    return cell.replace(",", "") if _NUMBER.fullmatch(cell) else cell


def european(head: Rows, rows: Rows) -> Rows:
    """1,617,344.5 becomes 1.617.344,5."""
    swap = str.maketrans(",.", ".,")
    first = head[0].index("CC") + 1
    return head + [
        row[:first] + [c.translate(swap) if _NUMBER.fullmatch(c) else c for c in row[first:]]
        for row in rows
    ]


def columns_reversed(head: Rows, rows: Rows) -> Rows:
    """The counters of a wide table from the last to the first."""
    if "Metric Name" in head[0]:
        return head + rows
    first = head[0].index("CC") + 1
    return [row[:first] + row[: first - 1 : -1] for row in head + rows]


def split(path: Path, folder: Path) -> Changed | None:
    """The first half of the launches in one file, the others in another."""
    before, head, rows = _parts(read_bytes(path))
    ids = sorted({int(row[0]) for row in rows})
    if len(ids) < 2:
        return None
    files = []
    for number, part in enumerate((ids[: len(ids) // 2], ids[len(ids) // 2 :])):
        text = io.StringIO()
        own = [row for row in rows if int(row[0]) in part]
        csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(head + own)
        target = folder / str(number) / plain_name(path)
        target.parent.mkdir(parents=True)
        target.write_bytes(before + text.getvalue().encode())
        files.append(target)
    return Changed(files)


def twice(path: Path, folder: Path) -> Changed | None:
    """The same file and one of a second process, which did the same."""
    again = of_rows(with_other_processes)(path, folder / "2")
    return Changed([path, *again.files]) if again else None


def with_crlf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def of_perf(change: Callable[[list[str]], list[str]]) -> Make:
    def changed(data: bytes) -> bytes:
        return "\n".join(change(data.decode().split("\n"))).encode()

    make = of_bytes(changed)

    def only(path: Path, folder: Path) -> Changed | None:
        return make(path, folder) if b"Performance counter stats" in read_bytes(path) else None

    return only


def events_reversed(lines: list[str]) -> list[str]:
    """The events of the only block from the last to the first."""
    events = [at for at, line in enumerate(lines) if re.match(r"\s+[\d.,<].* [a-z-]+", line)]
    events = [at for at in events if not re.search(r"elapsed|user|sys$|\+-", lines[at])]
    if not events or events != list(range(events[0], events[-1] + 1)):
        return lines
    return lines[: events[0]] + lines[events[-1] : events[0] - 1 : -1] + lines[events[-1] + 1 :]


#: Reports with rows of each file.
_PER_FILE = {
    *("advise", "data_without_counters", "issues", "ranks", "roofline_ceilings", "summary"),
    *("run_summary", "launch_bounds", "advised_by_nsight"),
}
SAME = unchanged()
_TEXTS: dict[str, Transformation] = {
    "text with CRLF": Transformation(of_bytes(with_crlf), unchanged(("first_offset_bytes",))),
    "text compressed": Transformation(packed, SAME),
}
#: Changes of tables of Nsight Compute.
NSIGHT_COMPUTE: dict[str, Transformation] = _TEXTS | {
    "launches permuted": Transformation(of_rows(permuted), SAME),
    "launches renumbered": Transformation(of_rows(renumbered), SAME),
    "processes of counters renumbered": Transformation(of_rows(with_other_processes), SAME),
    "an unknown metric": Transformation(of_rows(with_a_metric), SAME),
    "without separators": Transformation(of_rows(without_separators), SAME),
    "decimal comma": Transformation(of_rows(european), SAME),
    "counters reversed": Transformation(of_rows(columns_reversed), SAME),
    "launches in two files": Transformation(
        of_csv(split), unchanged(reports=lambda name: name not in _PER_FILE)
    ),
    "counted twice": Transformation(of_csv(twice), per_source(2)),
    "no last line feed": Transformation(of_csv(of_bytes(bytes.rstrip)), SAME),
}
PERF: dict[str, Transformation] = _TEXTS | {
    "events of perf reversed": Transformation(of_perf(events_reversed), SAME),
    "comments in perf": Transformation(
        of_perf(lambda lines: ["# run on a quiet machine", *lines, "# done"]),
        unchanged(reports=lambda name: name != "issues"),  # which lists the comments
    ),
}
