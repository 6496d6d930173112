"""Times of device work that cannot be, on streams that run in order."""

from __future__ import annotations

from pathlib import Path

from tests.attribution.traces import Store, kernel, launch, stored


def issues(store: Store) -> list[tuple[str, str, int]]:
    rows = store.rows("""
        SELECT code, advice, occurrence_count FROM ingest_issue
        WHERE code IN ('impossible_duration', 'time_zero')""")
    return [tuple(row.values()) for row in rows]


def test_a_kernel_that_outlasts_its_successors_is_busy_until_the_next_one(tmp_path: Path) -> None:
    # 3.4 s from 0, while three of 80 us start at 100, 200 and 300 us: busy for 100 + 3 x 80
    store = stored(
        tmp_path,
        [
            kernel("a", 0, 3_400_000, correlation=1),
            *(kernel("b", 100 * i, 80, correlation=1 + i) for i in (1, 2, 3)),
        ],
    )
    assert issues(store) == [
        (
            "impossible_duration",
            (
                "kept as written (3,400,000,000 ns in total); as busy time it counts until the "
                "next work starts (100,000 ns)"
            ),
            1,
        )
    ]
    assert store.rows("SELECT dur_ns FROM kernel WHERE name = 'a'") == [{"dur_ns": 3_400_000_000}]
    (row,) = store.database.query("gpu_utilization", {"run_id": "r"}).rows()
    assert (row["busy_ns"], row["elapsed_ns"]) == (340_000, 380_000)


def test_a_programmatic_launch_reaches_past_the_next_start(tmp_path: Path) -> None:
    kernels = [kernel("k", 100 * i, 102, correlation=i) for i in range(1, 11)]
    store = stored(tmp_path, kernels)
    assert issues(store) == []
    (row,) = store.database.query("gpu_utilization", {"run_id": "r"}).rows()
    assert row["busy_ns"] == row["elapsed_ns"] == 1_002_000


def test_streams_do_not_wait_for_each_other(tmp_path: Path) -> None:
    long = kernel("long", 0, 900, correlation=1)
    store = stored(tmp_path, [long, kernel("other", 100, 80, stream=9, correlation=2)])
    assert issues(store) == []


def test_work_that_starts_together_is_not_later(tmp_path: Path) -> None:
    pair = [kernel("k", 10, dur, correlation=dur) for dur in (50, 20)]
    assert issues(stored(tmp_path, pair)) == []


def test_work_at_time_zero_among_unix_times_is_in_no_window(tmp_path: Path) -> None:
    now = 1_700_000_000_000_000
    store = stored(
        tmp_path,
        [
            launch(1, now),
            kernel("k", now + 10, 40, correlation=1),
            kernel("k", now + 60, 40, correlation=3),
            kernel("lost", 0, 5, correlation=2),
        ],
    )
    assert [(code, count) for code, _, count in issues(store)] == [("time_zero", 1)]
    (row,) = store.database.query("gpu_utilization", {"run_id": "r"}).rows()
    # from the call to the end of the last kernel
    assert (row["busy_ns"], row["elapsed_ns"]) == (80_000, 100_000)


def test_a_recording_that_begins_at_zero_is_as_it_is(tmp_path: Path) -> None:
    kernels = [kernel("k", 0, 5, correlation=1), kernel("k", 10, 5, correlation=2)]
    assert issues(stored(tmp_path, kernels)) == []
