"""docs/joins.md and docs/papers/zhu-2018.md: what they say, held against the files themselves."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.recorded import counted, fp32_of, kernels
from tracekit import ingest
from tracekit import open as opened
from tracekit.joins import join
from tracekit.session import Session

H100 = ROOT / "fixtures" / "h100"
#: NVIDIA's white paper: 132 SM x 128 FMA x 2 x 1980 MHz.
FP32_PEAK = 132 * 128 * 2 * 1980e6


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    store = tmp_path_factory.mktemp("joined") / "S"
    for name in ("lstm", "conv2d-fp16-b64"):
        for file, run in (("trace.json.gz", name), ("raw.csv.gz", f"{name}-ncu")):
            ingest([H100 / name / file], store, run_name=run)
        join(opened(store).database, name, f"{name}-ncu")
    return opened(store)


def busy_ns(events: list[dict[str, Any]]) -> float:
    """Kernels of one stream do not overlap."""
    return 1000 * sum(float(event["dur"]) for event in events)


def test_the_lstm_uses_so_much_of_the_fp32_peak(session: Session) -> None:
    """Eq. 2: the operations of one counted step, in each of two steps of the timeline."""
    flop = 2 * sum(map(fp32_of, counted(H100 / "lstm" / "raw.csv.gz")))
    (row,) = session.query("gpu_utilization", {"run_id": "lstm"}).rows()
    assert row["fp32_flop"] == flop
    expected = flop * 1e9 / (FP32_PEAK * busy_ns(kernels(H100 / "lstm" / "trace.json.gz")))
    assert row["fp32_utilization_ratio"] == pytest.approx(expected, rel=1e-4)
    assert round(100 * row["fp32_utilization_ratio"], 1) == 0.9
    assert round(100 * row["busy_ratio"]) == 13
    assert row["fp32_known_ratio"] == 1


def test_cells_by_hand_against_cudnn(session: Session) -> None:
    rows = {row["layer_path"]: row for row in session.query("layers", {"run_id": "lstm"}).rows()}
    cells, cudnn = rows["cells"], rows["cudnn"]
    assert round(100 * cells["share_ratio"]) == 92
    assert round(1e-6 * cells["total_flop"]) == 1889
    assert round(1e-6 * cudnn["total_flop"]) == 411
    assert round(cells["share_ratio"] / cudnn["share_ratio"]) in (11, 12)
    assert {row["provenance_kind"] for row in rows.values()} == {"measured"}
    whole = 2 * sum(map(fp32_of, counted(H100 / "lstm" / "raw.csv.gz")))
    assert sum(row["total_flop"] for row in rows.values()) == whole


def test_products_of_sixteen_rows_are_mostly_padding(session: Session) -> None:
    """A step multiplies 16 x 512 by 512 x 128 fifteen times: 15 x 2 x 16 x 512 x 128 operations."""
    rows = session.query("model_check", {"run_id": "lstm"}).rows()
    (row,) = (row for row in rows if row["input_dims"] == "[[16, 512], [512, 128]]")
    assert row["call_count"] == 30
    assert row["modelled_flop"] == 30 * 2 * 16 * 512 * 128
    of_name = Counter[str]()
    for launch in counted(H100 / "lstm" / "raw.csv.gz"):
        of_name[launch["Kernel Name"]] += int(fp32_of(launch))
    assert row["measured_flop"] / 2 in of_name.values()
    assert round(1 / row["flop_factor"]) == 9


def test_most_of_a_convolution_turns_layouts(session: Session) -> None:
    events = kernels(H100 / "conv2d-fp16-b64" / "trace.json.gz")
    turned = [e for e in events if "nchwToNhwc" in e["name"] or "nhwcToNchw" in e["name"]]
    share = busy_ns(turned) / busy_ns(events)
    assert round(100 * share) == 58
    rows = session.query("kernel_figures", {"run_id": "conv2d-fp16-b64"}).rows()
    found = sum(r["share_ratio"] for r in rows if r["name"].find("ToN") > 0)
    assert found == pytest.approx(share, rel=1e-4)
    products = [r["utilization_ratio"] for r in rows if r["ceiling_name"] == "tensor_fp16"]
    assert [round(100 * ratio) for ratio in sorted(products)] == [43, 44, 49]


def test_the_pictures_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "joins.md").read_text("utf-8")
    files = {path.name for path in (ROOT / "docs" / "joins").iterdir()}
    assert len(files) == 3
    assert all(f"](joins/{name})" in page for name in files)
