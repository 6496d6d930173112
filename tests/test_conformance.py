"""The conformance suite passes sound parsers and names the fault of others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from tracekit import conformance
from tracekit.conformance import ConformanceError, check_parser, variants
from tracekit.errors import FormatError, UsageError
from tracekit.parser import Batch, Issue, Match, Parser, PartMismatch, Report
from tracekit.parsers import torch_profiler
from tracekit.registry import parser_named
from tracekit.schema import COUNTER, SLICE, STEP, batch_of_rows
from tracekit.source import Source
from tracekit.wide import KERNEL_WIDE, LAYOUT_KEY, WideLayout, WideMetric, WideSum

Row = dict[str, Any]
SAMPLE = b"#marks\n" + b"".join(b"mark %d,%d,%d\n" % (i, 10 * i, i) for i in range(40))


class Marks:
    """A sound parser: `#marks`, then `name,start_ns,dur_ns` on each line."""

    name = "marks"
    title = "marks: name,start_ns,dur_ns on each line"

    def sniff(self, head: bytes) -> Match | None:
        return Match(0.9, "the first line is #marks") if head.startswith(b"#marks\n") else None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        with source.open() as stream:
            content = stream.read(1 << 30)
            damage = stream.damage
        if not content.startswith(b"#marks\n"):
            raise FormatError("the first line is not #marks")
        if damage:
            report.issue(Issue("cut_content", "error", "recording", damage))
        rows = self.rows(content[7:], 7, report)
        if rows:
            yield "slice", self.batch(rows)
        report.facts |= {"profiler_name": "marks", "is_complete": not report.issues}

    def rows(self, content: bytes, offset: int, report: Report) -> list[Row]:
        rows = []
        for line in content.splitlines(keepends=True):
            report.event_count += 1
            row = self.row(line, offset)
            offset += len(line)
            if row:
                rows.append(row)
            else:
                report.issue(
                    Issue("odd_line", "error", "import", "odd lines", skipped_event_count=1)
                )
        return rows

    def row(self, line: bytes, offset: int) -> Row | None:
        try:
            name, start, length = line.decode().rsplit(",", 2)
            start_ns, dur_ns = int(start), int(length)
        except ValueError:
            return None
        if not (0 <= start_ns < 2**63 and 0 <= dur_ns < 2**63):
            return None
        return {"event_id": offset, "name": name, "start_ns": start_ns, "dur_ns": dur_ns}

    def batch(self, rows: list[Row]) -> pa.RecordBatch:
        return batch_of_rows(SLICE, rows)


class PartedMarks(Marks):
    """The same, in parts: ranges of lines."""

    def split(self, source: Source, count: int) -> Sequence[Any]:
        if source.compression_kind != "none" or source.size_bytes < 100:
            return ()
        edges = [source.size_bytes * i // count for i in range(1, count)]
        return list(zip([0, *edges], [*edges, None], strict=True))

    def parse_part(self, source: Source, part: Any, report: Report) -> Iterator[Batch]:
        content = source.path.read_bytes()
        if not content.startswith(b"#marks\n") or b"\r" in content:
            raise PartMismatch
        first, last = (self.line_from(content, edge) for edge in part)
        rows = self.rows(content[first:last], first, report)
        if rows:
            yield "slice", self.batch(rows)

    @staticmethod
    def line_from(content: bytes, edge: int | None) -> int:
        if edge is None:
            return len(content)
        return content.find(b"\n", max(edge, 6)) + 1 or len(content)

    def finish(self, source: Source, parts: Sequence[Report], report: Report) -> Iterator[Batch]:
        for part in parts:
            report.absorb(part)
        report.facts |= {"profiler_name": "marks", "is_complete": not report.issues}
        return iter(())


class WideMarks(Marks):
    """The same, as kernels in wide rows: the start is a metric without a column of its own."""

    layout = WideLayout(
        (WideMetric("m0", "begin"), WideMetric("m1", "length", "ns")),
        ("name",),
        (WideSum("dur_ns", ("m1",)),),
    )

    def row(self, line: bytes, offset: int) -> Row | None:
        row = super().row(line, offset)
        return row if row and max(row["start_ns"], row["dur_ns"]) < 10**15 else None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        for _, batch in super().parse(source, report):
            columns = [batch[name] for name in ("event_id", "name", "start_ns", "dur_ns")]
            schema = self.layout.schema(KERNEL_WIDE)
            yield "kernel_wide", self.changed(pa.RecordBatch.from_arrays(columns, schema=schema))

    def changed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return rows


def check(parser: Any, sample: bytes = SAMPLE) -> None:
    check_parser(parser, sample, effort=20)


# -- sound parsers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("parser", [Marks(), PartedMarks(), WideMarks()])
def test_a_sound_parser_passes(parser: Parser) -> None:
    check(parser)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are read in parts too."""
    monkeypatch.setattr(torch_profiler, "_BIG_ENOUGH_TO_SPLIT", 16)


def test_ours_passes(traces: Path, small_parts: None) -> None:
    sample = (traces / "hand-made" / "valid.json").read_bytes()
    check_parser(parser_named("torch-profiler"), sample, effort=30)


@pytest.mark.deep
def test_ours_passes_with_blocks_so_small_that_a_part_has_several(
    traces: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracekit.reading.chrome.reader.BLOCK_BYTES", 256)
    monkeypatch.setattr("tracekit.conformance._LONG", 1 << 14)  # of many blocks, too
    sample = (traces / "hand-made" / "valid.json").read_bytes()
    check_parser(parser_named("torch-profiler"), sample, effort=20, seed=7)


# -- planted faults --------------------------------------------------------------------------------


class SniffRaises(Marks):
    def sniff(self, head: bytes) -> Match | None:
        return Match(0.9, "marks") if head.decode("ascii")[:6] == "#marks" else None


class SniffIsTrue(Marks):
    def sniff(self, head: bytes) -> Any:
        return True


class SniffIsTooSure(Marks):
    def sniff(self, head: bytes) -> Match | None:
        return Match(1.5, "sure")


class SniffSaysNoReason(Marks):
    def sniff(self, head: bytes) -> Match | None:
        return Match(0.5, "")


class SniffMissesTheSample(Marks):
    def sniff(self, head: bytes) -> Match | None:
        return None


class RefusesTheSample(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        raise FormatError("not today")


class FindsNothing(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        return iter(())


class RaisesBare(Marks):
    def row(self, line: bytes, offset: int) -> Row | None:
        int(line.decode().rsplit(",", 2)[1])
        return super().row(line, offset)


class RaisesAnotherOfOurs(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        raise UsageError("use me better")


class RaisesWithoutText(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        with source.open() as stream:
            if not stream.read(7):
                raise FormatError(" ")
        yield from super().parse(source, report)


class MismatchesWhole(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        raise PartMismatch


class YieldsBatchesAlone(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Any]:
        for _, batch in super().parse(source, report):
            yield batch


class Renamed(Marks):
    table = "slices"

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        for _, batch in super().parse(source, report):
            yield self.table, batch


class FillsTheStoresTable(Renamed):
    table = "source_file"


class WrongTable(Renamed):
    table = "kernel"


class WrongType(Marks):
    def batch(self, rows: list[Row]) -> pa.RecordBatch:
        made = super().batch(rows)
        return made.set_column(
            made.schema.get_field_index("dur_ns"), "dur_ns", made["dur_ns"].cast(pa.float64())
        )


class Annotated(Marks):
    def batch(self, rows: list[Row]) -> pa.RecordBatch:
        return super().batch(rows).replace_schema_metadata({"by": "me"})


class HugeBatches(Marks):
    def batch(self, rows: list[Row]) -> pa.RecordBatch:
        return super().batch(rows * 40)


class Altered(Marks):
    """Every row gets another value."""

    column, value = "", cast("Any", None)

    def row(self, line: bytes, offset: int) -> Row | None:
        row = super().row(line, offset)
        return row and row | {self.column: self.value}


class NoPlace(Altered):
    column, value = "event_id", None


class OnePlaceForAll(Altered):
    column, value = "event_id", 7


class NegativeDuration(Altered):
    column, value = "dur_ns", -1


class BadJson(Altered):
    column, value = "args_json", "{'a': 1}"


class HoldsNaN(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        yield from super().parse(source, report)
        report.event_count += 1
        yield "counter", batch_of_rows(COUNTER, [{"event_id": 1 << 40, "value": float("nan")}])


class DropsSilently(Marks):
    def rows(self, content: bytes, offset: int, report: Report) -> list[Row]:
        return super().rows(content, offset, report)[:39]


class CountsTwice(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        yield from super().parse(source, report)
        report.event_count *= 2


class Random(Marks):
    numbers = count()

    def batch(self, rows: list[Row]) -> pa.RecordBatch:
        return super().batch([row | {"thread_id": next(self.numbers)} for row in rows])


class ReversesSometimes(Marks):
    numbers = count()

    def batch(self, rows: list[Row]) -> pa.RecordBatch:
        return super().batch(rows[:: -1 if next(self.numbers) % 2 else 1])


class OtherTablesSometimes(Marks):
    numbers = count()

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        yield from super().parse(source, report)
        if next(self.numbers) % 2:
            yield "step", batch_of_rows(STEP, [{"event_id": 7}])


class OtherFactsSometimes(Marks):
    numbers = count()

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        yield from super().parse(source, report)
        report.facts["rank_index"] = next(self.numbers)


class ReadsTheFileItself(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        if not source.path.read_bytes().startswith(b"#marks"):
            raise FormatError("the first line is not #marks")
        yield from super().parse(source, report)


class Remembers(Marks):
    """One sample a parser: what it saw before changes what it says."""

    seen = 0

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        if source.size_bytes == len(SAMPLE):
            self.seen += 1
        if self.seen > 2:
            raise FormatError("not again")
        yield from super().parse(source, report)


class Telling(Marks):
    """Says something of the source."""

    fact: tuple[str, Any] = ("rank_index", 0)
    issues: tuple[Issue, ...] = ()

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        yield from super().parse(source, report)
        report.facts |= [self.fact]
        for issue in self.issues:
            report.issue(issue)


class UnknownFact(Telling):
    fact = ("weather", "fine")


class FactOfAnotherType(Telling):
    fact = ("rank_index", "first")


class FactTooLarge(Telling):
    fact = ("base_time_ns", 2**70)


class MetadataIsNoJson(Telling):
    fact = ("metadata_json", "rank: 1")


class IssueWithoutCode(Telling):
    issues = (Issue("", "info", "import", "something"),)


class IssueOfUnknownSeverity(Telling):
    issues = (Issue("odd", "fatal", "import", "something"),)  # type: ignore[arg-type]


class IssueBelowZero(Telling):
    issues = (Issue("odd", "info", "import", "something", lost_bytes=-1),)


class IssueOutside(Telling):
    issues = (Issue("odd", "info", "import", "something", first_offset_bytes=1 << 40),)


class PartsLoseARow(PartedMarks):
    def line_from(self, content: bytes, edge: int | None) -> int:  # type: ignore[override]
        return super().line_from(content, edge) + (edge is not None and edge > 0) * 12


class PartsHaveOtherRows(PartedMarks):
    def parse_part(self, source: Source, part: Any, report: Report) -> Iterator[Batch]:
        for name, batch in super().parse_part(source, part, report):
            rows = batch.to_pylist()
            yield name, self.batch([row | {"thread_id": part[0]} for row in rows])


class PartsCountOtherwise(PartedMarks):
    def finish(self, source: Source, parts: Sequence[Report], report: Report) -> Iterator[Batch]:
        yield from super().finish(source, parts, report)
        report.facts["rank_index"] = len(parts)


class PartsAreRefused(PartedMarks):
    def finish(self, source: Source, parts: Sequence[Report], report: Report) -> Iterator[Batch]:
        raise FormatError("no")


class PartsCannotTravel(PartedMarks):
    def split(self, source: Source, count: int) -> Sequence[Any]:
        return [iter(lambda: 0, 1) for _ in super().split(source, count)]


class SplitRaises(PartedMarks):
    def split(self, source: Source, count: int) -> Sequence[Any]:
        return [int(source.path.read_text()[7])]


class WideWithoutLayout(WideMarks):
    def changed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return rows.replace_schema_metadata()


class WideOfAnUnknownColumn(WideMarks):
    def changed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        said = rows.schema.metadata[LAYOUT_KEY.encode()].replace(b"dur_ns", b"length_ns")
        return rows.replace_schema_metadata({LAYOUT_KEY: said})


class WideLacksAColumn(WideMarks):
    def changed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return rows.drop_columns(["name"]).replace_schema_metadata(rows.schema.metadata)


class WideOfAnotherKind(WideMarks):
    def changed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        texts = rows["m0"].cast(pa.string())
        other = rows.set_column(rows.schema.get_field_index("m0"), "m0", texts)
        return other.replace_schema_metadata(rows.schema.metadata)


class WideWithoutPlace(WideMarks):
    def row(self, line: bytes, offset: int) -> Row | None:
        row = super().row(line, offset)
        return row and row | {"event_id": None}


class WideDropsSilently(WideMarks):
    def changed(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return rows.slice(1)


class WideBelowZero(WideMarks):
    def row(self, line: bytes, offset: int) -> Row | None:
        row = super().row(line, offset)
        return row and row | {"start_ns": -1}


class WideIsTooLarge(WideMarks):
    layout = WideLayout(
        (WideMetric("m0", "begin"), WideMetric("m1", "length", "ns", power=13)),
        ("name",),
        (WideSum("dur_ns", ("m1",)),),
    )

    def row(self, line: bytes, offset: int) -> Row | None:
        row = super().row(line, offset)
        return row and row | {"dur_ns": 10**9}


FAULTS: dict[type[Marks], str] = {
    SniffRaises: "sniff raised UnicodeDecodeError",
    SniffIsTrue: "sniff returned True, not a Match",
    SniffIsTooSure: "not a Match of 0..1 with a reason",
    SniffSaysNoReason: "not a Match of 0..1 with a reason",
    SniffMissesTheSample: "sniff does not claim the sample",
    RefusesTheSample: "parse rejects the sample",
    FindsNothing: "parse finds no rows in the sample",
    RaisesBare: "parse raised ",
    RaisesAnotherOfOurs: "parse raised UsageError: use me better",
    RaisesWithoutText: "parse raised a FormatError without a message",
    MismatchesWhole: "parse raised PartMismatch",
    YieldsBatchesAlone: "parse yielded a RecordBatch, not (table name, record batch)",
    Renamed: "rows of 'slices', which is not a table",
    FillsTheStoresTable: "rows of 'source_file', which the store fills itself",
    WrongTable: "rows of 'kernel' have another schema: columns",
    WrongType: "rows of 'slice' have another schema: dur_ns is pyarrow.Field<dur_ns: double>",
    Annotated: "rows of 'slice' have another schema: metadata",
    HugeBatches: "a batch of 'slice' has 1,600 rows; the maximum is 1,000",
    NoPlace: "a row of slice has no event_id",
    OnePlaceForAll: "event counts do not match: 1 events have rows, 0 were skipped",
    NegativeDuration: "slice.dur_ns is negative",
    BadJson: "slice.args_json is not JSON: \"{'a': 1}\"",
    HoldsNaN: "counter.value has NaN or infinity",
    DropsSilently: "39 events have rows, 0 were skipped by issues, 40 counted",
    CountsTwice: "40 events have rows, 0 were skipped by issues, 80 counted",
    Random: "parsed again: other rows in slice",
    ReversesSometimes: "parsed again: other rows in slice",
    OtherTablesSometimes: "parsed again: other tables",
    OtherFactsSometimes: "parsed again: other facts",
    ReadsTheFileItself: "compressed with gzip: refused only so",
    Remembers: "parse rejects the sample",
    UnknownFact: "the fact 'weather' is not one of",
    FactOfAnotherType: "the fact 'rank_index' is 'first', not int64",
    FactTooLarge: "the fact 'base_time_ns' is 1180591620717411303424, not int64",
    MetadataIsNoJson: "the fact 'metadata_json' is not JSON: 'rank: 1'",
    IssueWithoutCode: "has no code or message",
    IssueOfUnknownSeverity: "the issue 'odd' has an unknown severity or origin",
    IssueBelowZero: "the issue 'odd' has a negative count",
    IssueOutside: "the issue 'odd' is outside the content",
    PartsLoseARow: "read in 2 parts: ",
    PartsHaveOtherRows: "read in 2 parts: other rows in slice",
    PartsCountOtherwise: "read in 2 parts: other facts",
    PartsAreRefused: "read in 2 parts: refused only so",
    PartsCannotTravel: "parse raised ",
    SplitRaises: "split raised ValueError",
    WideWithoutLayout: "rows of 'kernel_wide' are not as they say: Input data was truncated",
    WideOfAnUnknownColumn: "['length_ns'] are not columns of kernel_wide rows",
    WideLacksAColumn: "the columns are not those that the metadata names",
    WideOfAnotherKind: "the columns are not those that the metadata names",
    WideWithoutPlace: "a row of kernel has no event_id",
    WideDropsSilently: "39 events have rows, 0 were skipped by issues, 40 counted",
    WideBelowZero: "m0 has a number that is negative",
    WideIsTooLarge: "dur_ns has a number that is too large",
}


@pytest.mark.parametrize("parser", FAULTS, ids=lambda parser: parser.__name__)
def test_a_fault_is_named(parser: type[Marks], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance, "MOST_ROWS", 1000)
    with pytest.raises(ConformanceError) as failure:
        check(parser())
    assert str(failure.value).startswith("marks: ")
    assert FAULTS[parser] in str(failure.value)


def test_a_failure_names_the_variant_and_carries_it() -> None:
    with pytest.raises(ConformanceError, match=r"marks: nothing but b'\{': ") as failure:
        check(Fussy())
    assert failure.value.content == b"{"


class Fussy(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        with source.open() as stream:
            if stream.read(10) == b"{":
                raise KeyError("{")
        yield from super().parse(source, report)


# -- the variants ----------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_variants() -> None:
    first, again, other = (
        [(v.name, v.content) for v in variants(SAMPLE, seed=seed, effort=30)] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_variants_are_many_and_of_every_kind() -> None:
    names = [variant.name for variant in variants(SAMPLE, effort=30)]
    for part in (
        "an empty file",
        "utf-16-le with a BOM",
        "the content twice",
        "CR LF for each LF",
        "gzip cut after",
        "zstd with byte",
        "the first ",
        " xor ",
        "in place of",
    ):
        assert any(part in name for name in names), part


def test_more_effort_gives_more_variants() -> None:
    few, many = (sum(1 for _ in variants(SAMPLE, effort=effort)) for effort in (10, 110))
    assert many - few == 100


@pytest.mark.parametrize("sample", [b"", b"x"])
def test_a_sample_may_be_tiny(sample: bytes) -> None:
    assert all(isinstance(variant.content, bytes) for variant in variants(sample, effort=10))


def test_a_sample_of_json_keeps_its_form() -> None:
    """Some variants of a trace are sound traces: not everything is refused at the first byte."""
    sample = json.dumps([{"ph": "X", "cat": "kernel", "ts": i} for i in range(50)]).encode()
    sound = 0
    for variant in variants(sample, effort=60):
        try:
            sound += isinstance(json.loads(variant.content), list)
        except (ValueError, RecursionError):
            continue
    assert sound > 5
