"""The geometry of rooflines: the figures of the papers, and what holds for any figures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.engine import value_of
from tracekit.roofline import geometry as geo
from tracekit.roofline.geometry import Platform, RooflineCeiling

NAN = math.nan

# -- the papers -----------------------------------------------------------------------------------

#: V100 of Wang Y. et al. 2020, sect. III: tensor cores at 1.312 GHz, HBM by ERT, one launch.
TENSOR, HBM, LAUNCH_NS = 107_479e9, 828.8e9, 4200.0


@pytest.mark.parametrize(
    ("peak", "bandwidth", "ridge", "digits"),
    [
        (TENSOR, HBM, 129.68, 2),
        (180e12, 2.4e12, 75, 2),  # TPU v2 board, Wang Y. E. et al. 2020, Table 3
        (420e12, 3.6e12, 117, 0),  # TPU v3 board; 116.67
    ],
)
def test_the_ridges_of_the_papers(peak: float, bandwidth: float, ridge: float, digits: int) -> None:
    assert round(geo.machine_balance(peak, bandwidth), digits) == ridge


def test_the_least_work_of_the_paper() -> None:
    # 1.06e14 x 4.2e-6, sect. IV.B
    assert geo.least_flop(1.06e14, LAUNCH_NS) == pytest.approx(0.4452e9, rel=1e-12)


@pytest.mark.parametrize(("peak", "ridge"), [(710.4e9, 5.55), (1305.6e9, 10.2)])
def test_a_node_of_the_paper(peak: float, ridge: float) -> None:
    # Peak FLOPS 256 and 512 of Javed et al. 2019 over one bandwidth, here 128 GB/s
    assert geo.machine_balance(peak, 128e9) == pytest.approx(ridge, rel=1e-12)
    assert geo.roof_flop_per_s(100.0, peak, 128e9) == peak
    assert geo.roof_flop_per_s(0.125, peak, 128e9) == 16e9


def test_the_lstm_of_the_paper_is_in_its_box() -> None:
    # 36 launches of 4.2 us are 151.2 us: 16.25 GFLOP and 125.3 MB at peak. It does far less.
    x, y = geo.overhead_box(TENSOR, HBM, 36, LAUNCH_NS)
    assert (x, y) == pytest.approx((828.8e9 * 151.2e-6, 107_479e9 * 151.2e-6), rel=1e-12)
    flop, moved = 1.5e8, 2e7
    assert moved < x
    assert flop < y
    compute, bandwidth = geo.time_at_peak_ns(flop, TENSOR), geo.time_at_peak_ns(moved, HBM)
    at_peak = float(compute), float(bandwidth)
    assert value_of("bound_of", (*at_peak, 36 * LAUNCH_NS, 1, None, 0.6)) == "overhead"
    # without a launch overhead: 1396 ns of compute, 24131 of bandwidth
    assert value_of("bound_of", (*at_peak, None, 1, None, 0.6)) == "bandwidth"
    # launches alone take 151.2 us: 1.5e8 / 151.2e-6, below the rate at intensity 7.5
    ceiling = geo.overhead_ceiling_flop_per_s(flop, 36, LAUNCH_NS)
    assert ceiling == pytest.approx(9.92063492e11, rel=1e-8)
    assert ceiling < geo.roof_flop_per_s(geo.intensity(flop, moved), TENSOR, HBM)


# -- by hand: 1000 FLOP and 100 bytes a ns, machine balance 10 ------------------------------------

PEAK, MEMORY = 1e12, 1e11

#: FLOP, bytes, ns: then compute time and bandwidth time by equations 2 and 3.
TIMES = [
    (4e6, 1e5, 8000.0, 8000.0, 2000.0),  # intensity 40: compute; 8000 * 10 / 40
    (1e5, 4e5, 5000.0, 125.0, 5000.0),  # intensity 0.25: bandwidth; 5000 * 0.25 / 10
    (1e3, 1e2, 2000.0, 2000.0, 2000.0),  # on the machine balance
    (0.0, 4e5, 4000.0, 0.0, 4000.0),  # no operation
    (5e3, 0.0, 500.0, 500.0, 0.0),  # no traffic
    (0.0, 0.0, 500.0, NAN, NAN),  # neither
    (NAN, 4e5, 4000.0, NAN, NAN),
    (4e6, NAN, 8000.0, NAN, NAN),
    (4e6, 1e5, NAN, NAN, NAN),
]


@pytest.mark.parametrize(("flop", "moved", "time", "compute", "bandwidth"), TIMES)
def test_the_run_time_is_split(
    flop: float, moved: float, time: float, compute: float, bandwidth: float
) -> None:
    found = geo.measured_times_ns(
        time, geo.time_at_peak_ns(flop, PEAK), geo.time_at_peak_ns(moved, MEMORY)
    )
    assert [float(one) for one in found] == pytest.approx([compute, bandwidth], nan_ok=True)


def test_columns_are_worked_out_as_single_figures_are() -> None:
    flop, moved, time, compute, bandwidth = map(np.array, zip(*TIMES, strict=True))
    found = geo.measured_times_ns(
        time, geo.time_at_peak_ns(flop, PEAK), geo.time_at_peak_ns(moved, MEMORY)
    )
    np.testing.assert_allclose(found[0], compute, rtol=1e-15)
    np.testing.assert_allclose(found[1], bandwidth, rtol=1e-15)


@pytest.mark.parametrize(
    ("flop", "moved", "expected"),
    [(1.0, 8.0, 0.125), (0.0, 8.0, 0.0), (1.0, 0.0, NAN), (NAN, 8.0, NAN), (1.0, NAN, NAN)],
)
def test_an_intensity_is_a_quotient(flop: float, moved: float, expected: float) -> None:
    assert float(geo.intensity(flop, moved)) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("work", "time", "expected"),
    [(3000.0, 1500.0, 2e9), (0.0, 1500.0, 0.0), (3000.0, 0.0, NAN), (3000.0, NAN, NAN)],
)
def test_a_rate_is_per_second(work: float, time: float, expected: float) -> None:
    assert float(geo.rate(work, time)) == pytest.approx(expected, nan_ok=True)


def test_the_roof_is_the_lower_of_both_lines() -> None:
    # 0.25 * 1e11; the ridge; beyond it
    found = geo.roof_flop_per_s(np.array([0.25, 10.0, 40.0]), PEAK, MEMORY)
    assert found.tolist() == [2.5e10, 1e12, 1e12]


def test_a_platform_finds_its_ceilings_by_name() -> None:
    fp32, dram = RooflineCeiling("fp32", PEAK, "mine"), RooflineCeiling("dram", MEMORY, "mine")
    platform = Platform("Box", (fp32,), (dram,), None)
    assert (platform.peak("fp32"), platform.level("dram")) == (fp32, dram)
    assert (platform.peak("dram"), platform.level("fp32")) == (None, None)


# -- any figures ----------------------------------------------------------------------------------

work = st.floats(1, 1e18)
times = st.floats(1, 1e12)
peaks = st.floats(1e6, 1e18)


@given(work, work, times, peaks, peaks)
def test_the_longer_time_is_the_run_time(
    flop: float, moved: float, time: float, peak: float, bandwidth: float
) -> None:
    at_peak = geo.time_at_peak_ns(flop, peak), geo.time_at_peak_ns(moved, bandwidth)
    compute, memory = map(float, geo.measured_times_ns(time, *at_peak))
    assert max(compute, memory) == pytest.approx(time, rel=1e-12)
    assert compute / memory == pytest.approx((flop / peak) / (moved / bandwidth), rel=1e-12)
    # the same by equations 2 and 3
    quotient = (flop / moved) / (peak / bandwidth)
    assert compute == pytest.approx(time * min(1, quotient), rel=1e-12)
    assert memory == pytest.approx(time * min(1, 1 / quotient), rel=1e-12)


@given(work, work, peaks, peaks, st.floats(1, 1e6))
def test_the_symbols_of_the_4d_model_are_as_far_apart_as_the_roof(
    flop: float, moved: float, peak: float, bandwidth: float, slower: float
) -> None:
    compute, memory = flop / peak * 1e9, moved / bandwidth * 1e9
    for factor in (1.0, slower):
        times = geo.measured_times_ns(max(compute, memory) * factor, compute, memory)
        opened = float(times[1]) * bandwidth / 1e9, float(times[0]) * peak / 1e9
        assert opened == pytest.approx((moved * factor, flop * factor), rel=1e-12)


@given(peaks, peaks, st.integers(1, 10**6), st.floats(1, 1e6))
def test_the_corner_of_the_box_lies_on_the_machine_balance(
    peak: float, bandwidth: float, launches: int, launch_ns: float
) -> None:
    x, y = geo.overhead_box(peak, bandwidth, launches, launch_ns)
    assert y / x == pytest.approx(geo.machine_balance(peak, bandwidth), rel=1e-12)
    # what is at the corner takes as long as the launches, by operations and by bytes
    took = [float(geo.time_at_peak_ns(y, peak)), float(geo.time_at_peak_ns(x, bandwidth))]
    assert took == pytest.approx([launches * launch_ns] * 2, rel=1e-12)
    # and its rate is the overhead ceiling
    ceiling = float(geo.overhead_ceiling_flop_per_s(y, launches, launch_ns))
    assert ceiling == pytest.approx(peak, rel=1e-12)
    assert geo.least_flop(peak, launch_ns) == pytest.approx(y / launches, rel=1e-12)


@given(work, work, times, peaks, st.integers(0, 2))
def test_what_is_not_known_stays_so(
    flop: float, moved: float, time: float, peak: float, which: int
) -> None:
    known = [flop, moved, time]
    known[which] = NAN
    at_peak = geo.time_at_peak_ns(known[0], peak), geo.time_at_peak_ns(known[1], peak)
    assert all(math.isnan(float(one)) for one in geo.measured_times_ns(known[2], *at_peak))
    if which < 2:
        assert math.isnan(float(geo.intensity(known[0], known[1])))
