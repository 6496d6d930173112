"""Checks that a parser, built in or from a package, obeys the contract of `tracekit.parser`.

A package with a parser needs one test and one small sample of its format::

    from pathlib import Path

    from my_package import MyParser
    from tracekit.conformance import check_parser

    def test_conforms() -> None:
        check_parser(MyParser(), Path("tests/sample.txt").read_bytes())

The sample is parsed whole, twice, compressed and (by a PartedParser) in parts, and so are some
hundred damaged variants: truncated, flipped, re-encoded, doubled, deeply nested. `check_parser`
lists the checks. A failure is a ConformanceError that names the variant and has it as ``content``,
so that it can be written to a file and examined.
"""

from __future__ import annotations

import codecs
import gzip
import json
import pickle
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.dictionaries import plain_schema, with_texts
from tracekit.errors import FormatError
from tracekit.parser import (
    Batch,
    Issue,
    Match,
    Origin,
    Parser,
    PartedParser,
    PartMismatch,
    Report,
    Severity,
)
from tracekit.schema import SOURCE_FILE, TABLES, WORKED_OUT
from tracekit.source import HEAD_BYTES, Source, zstd
from tracekit.wide import WIDE_FORMS
from tracekit.widened import as_tables

#: The maximum number of rows in a batch.
MOST_ROWS = 1 << 20
#: Numbers of parts that a PartedParser is asked for.
PART_COUNTS = (2, 3, 7)

#: Tables that the store fills itself.
_STORE_TABLES = frozenset(
    ("run", "run_label", "run_metric", "source_file", "assumption", "event_rule", "ingest_issue")
)
_FACTS = frozenset(
    (
        "profiler_name",
        "rank_index",
        "world_size_count",
        "recording_kind",
        "base_time_ns",
        "is_complete",
        "metadata_json",
    )
)
_MOST_TEXT = 2000
_LONG = 1 << 20
_DEEP = 100_000
# One of so many damaged variants gets the expensive checks, too: again, compressed, in parts.
_DEAR_EVERY = 8
_SNIFFS_A_PARSE = 5


class ConformanceError(AssertionError):
    """A parser violated its contract; the text says how, and on which variant of the sample.

    ``content`` is that variant, as the bytes of a file.
    """

    def __init__(self, message: str, content: bytes = b"") -> None:
        """Create an error with its message and the content."""
        super().__init__(message)
        self.content = content


@dataclass(frozen=True, slots=True)
class Variant:
    """The sample, or a damaged copy: a name for the damage, and the content."""

    name: str
    content: bytes


def check_parser(parser: Parser, sample: bytes, *, seed: int = 0, effort: int = 200) -> None:
    """Raise ConformanceError if `parser` violates its contract on `sample` or a variant of it.

    `sample` is an intact, uncompressed file of the format; best are 10 to 100 kB with every kind of
    record. `effort` is the approximate number of random variants, in addition to the fixed ones;
    `seed` selects them. A PartedParser is checked in parts only if ``split`` returns several, so
    lower its threshold for the test or use a large sample.

    For every variant, ``sniff`` returns a Match or None and never raises, and ``parse`` raises
    nothing but FormatError, with a message. It yields tables that a parser may fill, each in its
    exact schema, or wide rows of several (`tracekit.wide`), in batches of limited size. The counts
    match: distinct ``event_id`` over the event tables plus ``skipped_event_count`` is
    ``event_count``. There is no NaN, no infinity and no negative ``dur_ns``; JSON columns hold
    JSON; issues and facts are well formed. Parsing again,
    from gzip or zstd, or in parts gives the same rows, issues and facts. The sample itself is
    claimed, parsed and gives rows.
    """
    with TemporaryDirectory(prefix="tracekit-conformance-") as folder:
        suite = _Suite(parser, Path(folder) / "sample")
        suite.check_sample(Variant("the sample as it is", sample))
        for number, variant in enumerate(variants(sample, seed=seed, effort=effort)):
            suite.check(variant, is_thorough=number % _DEAR_EVERY == 0)
        suite.check_sniff_alone(sample, random.Random(seed), effort * _SNIFFS_A_PARSE)
        suite.check_sample(Variant("the sample once more, after its variants", sample))


# -- one variant ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _ParsedFile:
    """What a parser returned for a file: its rows by table, and its report."""

    report: Report
    rows: dict[str, pa.Table]

    def tells(self) -> dict[str, Any]:
        """Return the counts, issues and facts, for comparison."""
        return {
            "events": self.report.event_count,
            "issues": self.report.issues,
            "facts": self.report.facts,
        }


@dataclass(slots=True)
class _Suite:
    parser: Parser
    path: Path
    _variant: Variant = field(default_factory=lambda: Variant("", b""))

    def check_sample(self, variant: Variant) -> None:
        """Check that an intact file is claimed and read."""
        self._variant = variant
        if self._sniffed(variant.content) is None:
            raise self._error("sniff does not claim the sample")
        whole = self.check(variant, is_thorough=True)
        if whole is None:
            raise self._error("parse rejects the sample")
        if not any(table.num_rows for table in whole.rows.values()):
            raise self._error("parse finds no rows in the sample")

    def check(self, variant: Variant, *, is_thorough: bool) -> _ParsedFile | None:
        """Check one file and return it; None if the parser rejects it."""
        self._variant = variant
        self._sniffed(variant.content)
        whole = self._parsed(variant.content)
        if is_thorough:
            self._same_again("parsed again", whole, variant.content)
            self._check_parts(whole)
        if is_thorough and Source.at(self.path).compression_kind == "none":
            self._same_again("compressed with gzip", whole, gzip.compress(variant.content, 1))
            self._check_parts(whole)
            self._same_again("compressed with zstd", whole, zstd.compress(variant.content, 1))
        return whole

    def check_sniff_alone(self, sample: bytes, rng: random.Random, count: int) -> None:
        """Check many more heads than files: sniffing is cheap."""
        for variant in (*_prefixes(sample[:HEAD_BYTES], rng, count), *_edits(sample, rng, count)):
            self._variant = variant
            self._sniffed(variant.content)

    def _error(self, what: str) -> ConformanceError:
        name = getattr(self.parser, "name", type(self.parser).__name__)
        return ConformanceError(
            f"{name}: {self._variant.name}: {what[:_MOST_TEXT]}", self._variant.content
        )

    def _sniffed(self, content: bytes) -> Match | None:
        head = content[:HEAD_BYTES]
        try:
            match = self.parser.sniff(head)
        except Exception as error:
            raise self._error(f"sniff raised {_described(error)}") from error
        if match is None:
            return None
        found: object = match  # whatever its signature says
        if not isinstance(found, Match) or not 0 <= found.certainty <= 1 or not found.reason:
            raise self._error(f"sniff returned {match!r}, not a Match of 0..1 with a reason")
        return match

    def _parsed(self, content: bytes) -> _ParsedFile | None:
        self.path.write_bytes(content)
        try:
            return self._read(self.parser.parse)
        except PartMismatch as error:
            raise self._error("parse raised PartMismatch, which only parse_part may") from error

    def _read(self, parse: Callable[[Source, Report], Iterable[Batch]]) -> _ParsedFile | None:
        """Parse the file and check the result; None if the parser rejects it."""
        report = Report()
        try:
            batches = list(parse(Source.at(self.path), report))
        except PartMismatch:
            raise
        except FormatError as error:
            if not str(error).strip():
                raise self._error("parse raised a FormatError without a message") from error
            return None
        except Exception as error:
            raise self._error(f"parse raised {_described(error)}") from error
        return self._checked(batches, report)

    def _checked(self, batches: Sequence[Any], report: Report) -> _ParsedFile:
        found: dict[str, list[pa.RecordBatch]] = {}
        for item in batches:
            if complaint := _batch_complaint(item):
                raise self._error(complaint)
            try:
                for table, batch in _shown(*item):
                    found.setdefault(table, []).append(batch)
            except ValueError as error:
                raise self._error(f"rows of {item[0]!r} are not as they say: {error}") from error
        rows = {name: with_texts(parts) for name, parts in found.items()}
        complaints = (*_value_complaints(rows), *_report_complaints(report, self._content_bytes()))
        if complaints:
            raise self._error("; ".join(complaints))
        counted = _counted_events(rows)
        if counted + report.skipped_event_count != report.event_count:
            raise self._error(
                f"event counts do not match: {counted} events have rows, "
                f"{report.skipped_event_count} were skipped by issues, {report.event_count} counted"
            )
        return _ParsedFile(report, rows)

    def _content_bytes(self) -> int:
        """Return the size of the decompressed content."""
        with Source.at(self.path).open() as stream:
            return sum(map(len, stream.pieces()))

    def _same_again(self, how: str, whole: _ParsedFile | None, content: bytes) -> None:
        other = self._parsed(content)
        if (whole is None) != (other is None):
            raise self._error(f"{how}: refused only {'so' if other is None else 'otherwise'}")
        if whole is None or other is None:
            return
        if whole.rows.keys() != other.rows.keys():
            raise self._error(
                f"{how}: other tables, {sorted(other.rows)}, not {sorted(whole.rows)}"
            )
        for name, table in whole.rows.items():
            if not table.equals(other.rows[name]):
                raise self._error(
                    f"{how}: other rows in {name}: {_difference(table, other.rows[name])}"
                )
        self._same_report(how, whole, other)

    def _same_report(self, how: str, whole: _ParsedFile, other: _ParsedFile) -> None:
        ours, theirs = whole.tells(), other.tells()
        for key, value in ours.items():
            if value != theirs[key]:
                raise self._error(f"{how}: other {key}: {theirs[key]!r}, not {value!r}")

    # -- in parts -----------------------------------------------------------------------------

    def _check_parts(self, whole: _ParsedFile | None) -> None:
        if not isinstance(self.parser, PartedParser):
            return
        for count in PART_COUNTS:
            try:
                self._check_parts_of(self.parser, count, whole)
            except PartMismatch:
                continue  # then the file is read whole

    def _check_parts_of(self, parser: PartedParser, count: int, whole: _ParsedFile | None) -> None:
        parts = self._split(parser, count)
        if len(parts) < 2:
            return
        how = f"read in {len(parts)} parts"
        other = self._read(lambda source, report: _in_parts(parser, parts, source, report))
        if (whole is None) != (other is None):
            raise self._error(f"{how}: refused only {'so' if other is None else 'otherwise'}")
        if whole is None or other is None:
            return
        for name in whole.rows.keys() | other.rows.keys():
            ours, theirs = (_as_set(reading.rows.get(name)) for reading in (whole, other))
            if ours != theirs:
                missing, more = next(iter(ours - theirs), None), next(iter(theirs - ours), None)
                raise self._error(
                    f"{how}: other rows in {name}: missing {missing}, too many {more}"
                )
        self._same_report(how, whole, other)

    def _split(self, parser: PartedParser, count: int) -> Sequence[Any]:
        try:
            return parser.split(Source.at(self.path), count)
        except FormatError:
            return ()
        except Exception as error:
            raise self._error(f"split raised {_described(error)}") from error


def _in_parts(
    parser: PartedParser, parts: Sequence[Any], source: Source, report: Report
) -> Iterator[Batch]:
    """Yield the rows of every part, as separate processes read them, then those of `finish`."""
    reports = []
    for part in parts:
        own = Report()
        yield from parser.parse_part(source, pickle.loads(pickle.dumps(part)), own)  # noqa: S301
        reports.append(pickle.loads(pickle.dumps(own)))  # noqa: S301 - our own bytes
    yield from parser.finish(source, reports, report)


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:500]}"


# -- rules for rows and reports -------------------------------------------------------------------


def _batch_complaint(item: Any) -> str | None:
    if not (isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], pa.RecordBatch)):
        return f"parse yielded a {type(item).__name__}, not (table name, record batch)"
    name, batch = item
    if name not in (*TABLES, *WIDE_FORMS):
        return f"parse yielded rows of {name!r}, which is not a table of tracekit.schema"
    if name in _STORE_TABLES:
        return f"parse yielded rows of {name!r}, which the store fills itself"
    if name in TABLES and not plain_schema(batch.schema).equals(
        TABLES[name].schema, check_metadata=True
    ):
        return f"rows of {name!r} have another schema: {_schema_difference(batch, name)}"
    if batch.num_rows > MOST_ROWS:
        return f"a batch of {name!r} has {batch.num_rows:,} rows; the maximum is {MOST_ROWS:,}"
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        return f"a batch of {name!r} is not valid: {error}"
    return None


def _shown(name: str, batch: pa.RecordBatch) -> Iterator[Batch]:
    """Yield the rows of tables that a batch is; raise ValueError if it is odd."""
    if form := WIDE_FORMS.get(name):
        yield from as_tables(form, batch)
    else:
        yield name, batch


def _schema_difference(batch: pa.RecordBatch, name: str) -> str:
    wanted, found = list(TABLES[name].schema), list(plain_schema(batch.schema))
    if [f.name for f in wanted] != [f.name for f in found]:
        return f"columns {[f.name for f in found]}"
    odd = [f"{f.name} is {f}" for f, w in zip(found, wanted, strict=True) if not f.equals(w)]
    return ", ".join(odd) or "metadata"


def _value_complaints(rows: dict[str, pa.Table]) -> Iterator[str]:
    """Yield what is wrong with values, in any format."""
    for name, table in rows.items():
        has_places = "event_id" in table.column_names and name not in WORKED_OUT
        if has_places and table["event_id"].null_count:
            yield f"a row of {name} has no event_id"
        for column in table.column_names:
            values = table[column]
            if pa.types.is_floating(values.type) and pc.all(pc.is_finite(values)).as_py() is False:
                yield f"{name}.{column} has NaN or infinity; use NULL"
            if column == "dur_ns" and (pc.min(values).as_py() or 0) < 0:
                yield f"{name}.dur_ns is negative"
            if column.endswith("_json") and (text := _no_json(values)) is not None:
                yield f"{name}.{column} is not JSON: {text[:200]!r}"


def _no_json(values: pa.ChunkedArray) -> str | None:
    for text in values.to_pylist():
        if text is not None and not _is_json(text):
            return str(text)
    return None


def _is_json(text: Any) -> bool:
    try:
        msgspec.json.decode(text)
    except msgspec.ValidationError:  # a number too large for a float is valid JSON (RFC 8259)
        return _has_json_constants_only(text)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return False
    return True


def _has_json_constants_only(text: Any) -> bool:
    constants: list[str] = []
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=constants.append)
    except (ValueError, RecursionError):
        return False
    return not constants


def _counted_events(rows: dict[str, pa.Table]) -> int:
    return sum(
        pc.count_distinct(table["event_id"]).as_py()
        for name, table in rows.items()
        if TABLES[name].is_event
    )


def _report_complaints(report: Report, content_bytes: int) -> Iterator[str]:
    for key, value in report.facts.items():
        if complaint := _fact_complaint(key, value):
            yield complaint
    for issue in report.issues.values():
        if complaint := _issue_complaint(issue, content_bytes):
            yield f"the issue {issue.code!r} {complaint}: {issue}"


def _fact_complaint(key: str, value: Any) -> str | None:
    if key not in _FACTS:
        return f"the fact {key!r} is not one of {sorted(_FACTS)}"
    kind = SOURCE_FILE.schema.field(key).type
    try:
        pa.scalar(value, kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return f"the fact {key!r} is {value!r}, not {kind}"
    if key == "metadata_json" and value is not None and not _is_json(value):
        return f"the fact {key!r} is not JSON: {value[:200]!r}"
    return None


def _issue_complaint(issue: Issue, content_bytes: int) -> str | None:
    if not issue.code or not issue.message:
        return "has no code or message"
    if issue.severity_kind not in get_args(Severity) or issue.origin_kind not in get_args(Origin):
        return "has an unknown severity or origin"
    counts = (issue.occurrence_count - 1, issue.skipped_event_count, issue.lost_bytes)
    if min(counts) < 0:
        return "has a negative count"
    if issue.first_offset_bytes is not None and not 0 <= issue.first_offset_bytes <= content_bytes:
        return f"is outside the content of {content_bytes} bytes"
    return None


def _difference(ours: pa.Table, theirs: pa.Table) -> str:
    if ours.num_rows != theirs.num_rows:
        return f"{theirs.num_rows}, not {ours.num_rows}"
    pairs = zip(ours.to_pylist(), theirs.to_pylist(), strict=True)
    return next((f"{b}, not {a}" for a, b in pairs if a != b), "only in their order of chunks")


def _as_set(table: pa.Table | None) -> Counter[tuple[Any, ...]]:
    """Return the rows without their order, each with its count."""
    if table is None:
        return Counter()
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


# -- variants of a sample -------------------------------------------------------------------------

_ENCODINGS = ("utf-16-le", "utf-16-be", "utf-32-le")
_TOKENS = (
    b"-1",
    b"0",
    b"1e999",
    b"-1e999",
    b"NaN",
    b"Infinity",
    b"null",
    b"true",
    b'""',
    b"[]",
    b"{}",
    b"99999999999999999999",
    b"-9223372036854775809",
    b"1e-400",
    b"0.1",
    b"0x1F",
    b"1,5",
    b"' '",
    b"9" * 5000,
    b"0." + b"1" * 400,
)
_FRAGMENTS = (
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\\",
    b'"',
    b"'",
    b",",
    b";",
    b":",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b"#",
    b"%",
    b"\xe2\x80\xae",
    b"\x1b[31m",
    b"\\ud800",
    b"\\u0000",
    b"1",
    b"-",
    b"<not counted>",
    b"\xef\xbb\xbf",
)


def variants(sample: bytes, *, seed: int = 0, effort: int = 200) -> Iterator[Variant]:
    """Yield damaged copies of `sample`: the fixed ones, then about `effort` random ones."""
    rng = random.Random(seed)
    yield from _without_sample()
    yield from _encoded(sample)
    yield from _enlarged(sample, rng)
    yield from _packed(sample, rng)
    yield from _prefixes(sample, rng, effort * 2 // 5)
    yield from _edits(sample, rng, effort - effort * 2 // 5)


def _without_sample() -> Iterator[Variant]:
    for content in (
        *(b"", b" ", b"\n", b"\0", b"{", b"[", b"{}", b"[]", b"[{}]", b'"', b"\xff"),
        *(codecs.BOM_UTF8, codecs.BOM_UTF16_LE, b"\x1f\x8b", b"\x28\xb5\x2f\xfd"),
    ):
        yield Variant(f"nothing but {content!r}" if content else "an empty file", content)
    yield Variant("64 KiB of NUL", bytes(HEAD_BYTES))
    yield Variant("a line of 1 MiB alone", b"a" * _LONG)
    for opening in (b"[", b'{"a":', b"("):
        yield Variant(f"{_DEEP} times {opening!r} alone", opening * _DEEP)


def _encoded(sample: bytes) -> Iterator[Variant]:
    text = sample.decode("utf-8", "replace")
    for encoding in _ENCODINGS:
        yield Variant(f"{encoding} without a BOM", text.encode(encoding))
        yield Variant(f"{encoding} with a BOM", ("\ufeff" + text).encode(encoding))
    yield Variant("a UTF-8 BOM in front", codecs.BOM_UTF8 + sample)
    yield Variant("CR LF for each LF", sample.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    yield Variant("CR for each LF", sample.replace(b"\n", b"\r"))
    yield Variant("no line feeds", sample.replace(b"\n", b""))
    yield Variant("UTF-8 read as Latin-1", sample.decode("latin-1").encode())
    yield Variant("no quotes", sample.replace(b'"', b""))
    yield Variant("single quotes", sample.replace(b'"', b"'"))


def _enlarged(sample: bytes, rng: random.Random) -> Iterator[Variant]:
    yield Variant("the content twice", sample * 2)
    yield Variant("the content twice, a line feed between", sample + b"\n" + sample)
    yield Variant(
        "the last half before the first", sample[len(sample) // 2 :] + sample[: len(sample) // 2]
    )
    yield Variant("the content backwards", sample[::-1])
    yield Variant("a page of NUL at the end", sample + bytes(4096))
    for what, piece in (
        ("a page of NUL", bytes(4096)),
        ("a line of 1 MiB", b"a" * _LONG),
        ("a line of 1 MiB of its own", b"\n" + b"a" * _LONG + b"\n"),
        ("a number of 1 MiB", b"9" * _LONG),
        ("1 MiB of spaces", b" " * _LONG),
        (f"{_DEEP} brackets", b"[" * _DEEP),
        (f"{_DEEP} braces", b'{"a":' * _DEEP),
        (f"{_DEEP} quotes", b'"' * _DEEP),
        (f"{_DEEP} backslashes", b"\\" * _DEEP),
    ):
        place = rng.randrange(len(sample) + 1)
        yield Variant(f"{what} put in at {place}", sample[:place] + piece + sample[place:])
    place = rng.randrange(len(sample) + 1)
    hole = sample[:place] + bytes(min(4096, len(sample) - place)) + sample[place + 4096 :]
    yield Variant(f"a page of NUL in place of the content at {place}", hole)


def _packed(sample: bytes, rng: random.Random) -> Iterator[Variant]:
    """Yield compressed copies with damaged bytes."""
    for name, packed in (
        ("gzip", gzip.compress(sample, 1, mtime=0)),
        ("zstd", zstd.compress(sample, 1)),
    ):
        for place in sorted(rng.sample(range(1, len(packed)), k=min(4, len(packed) - 1))):
            yield Variant(f"{name} cut after {place} bytes", packed[:place])
            yield Variant(f"{name} with byte {place} flipped", _flipped(packed, place, 0xFF))
        yield Variant(f"{name} with rubbish behind", packed + b"rubbish")


def _prefixes(sample: bytes, rng: random.Random, count: int) -> Iterator[Variant]:
    """Yield every prefix, or `count` of them spread over the sample."""
    if len(sample) <= count:
        lengths: Iterable[int] = range(len(sample))
    else:
        lengths = sorted(
            {
                rng.randrange(len(sample) * i // count, len(sample) * (i + 1) // count)
                for i in range(count)
            }
        )
    for length in lengths:
        yield Variant(f"the first {length} bytes", sample[:length])


def _edits(sample: bytes, rng: random.Random, count: int) -> Iterator[Variant]:
    """Yield copies with small random changes, of each kind in turn."""
    kinds = (_flip, _insert, _delete, _overwrite, _token, _copy, _flip_many)
    for number in range(count if sample else 0):
        yield kinds[number % len(kinds)](sample, rng)


def _flipped(content: bytes, place: int, bits: int) -> bytes:
    return content[:place] + bytes([content[place] ^ bits]) + content[place + 1 :]


def _flip(sample: bytes, rng: random.Random) -> Variant:
    place, bits = rng.randrange(len(sample)), rng.choice((1, 2, 4, 8, 16, 32, 64, 128, 255))
    return Variant(f"byte {place} xor {bits:#04x}", _flipped(sample, place, bits))


def _flip_many(sample: bytes, rng: random.Random) -> Variant:
    content = sample
    places = [rng.randrange(len(sample)) for _ in range(20)]
    for place in places:
        content = _flipped(content, place, rng.randrange(1, 256))
    return Variant(f"bytes {places} at random", content)


def _insert(sample: bytes, rng: random.Random) -> Variant:
    place, piece = rng.randrange(len(sample) + 1), rng.choice(_FRAGMENTS)
    return Variant(f"{piece!r} put in at {place}", sample[:place] + piece + sample[place:])


def _delete(sample: bytes, rng: random.Random) -> Variant:
    place, length = rng.randrange(len(sample)), rng.choice((1, 1, 2, 10, 100, 1000))
    content = sample[:place] + sample[place + length :]
    return Variant(f"{length} bytes taken out at {place}", content)


def _overwrite(sample: bytes, rng: random.Random) -> Variant:
    place, piece = rng.randrange(len(sample)), rng.choice(_FRAGMENTS)
    content = sample[:place] + piece + sample[place + len(piece) :]
    return Variant(f"{piece!r} written over {place}", content)


def _copy(sample: bytes, rng: random.Random) -> Variant:
    start, place = rng.randrange(len(sample)), rng.randrange(len(sample) + 1)
    length = rng.choice((10, 100, 1000))
    content = sample[:place] + sample[start : start + length] + sample[place:]
    return Variant(f"{length} bytes from {start} copied to {place}", content)


def _token(sample: bytes, rng: random.Random) -> Variant:
    """One run of digits, letters or other word bytes replaced."""
    place = rng.randrange(len(sample))
    wanted = next(
        (i for i in (*range(place, len(sample)), *range(place)) if _in_word(sample[i])), None
    )
    if wanted is None:
        return _insert(sample, rng)
    low = high = wanted
    while low > 0 and _in_word(sample[low - 1]):
        low -= 1
    while high < len(sample) and _in_word(sample[high]):
        high += 1
    token = rng.choice(_TOKENS)
    content = sample[:low] + token + sample[high:]
    return Variant(f"{token[:24]!r} in place of {sample[low:high][:24]!r} at {low}", content)


def _in_word(byte: int) -> bool:
    return 48 <= byte <= 57 or byte in b"+-.eE_" or 65 <= byte <= 90 or 97 <= byte <= 122
