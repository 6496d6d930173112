"""Draws the pictures of docs/rooflines.md from fixtures/roofline.

``python docs/pictures.py`` writes docs/rooflines/*.png. Whether they say what the code draws is
tested by their numbers, not by their bytes: another matplotlib sets other glyphs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import tracekit
from tracekit.render.figure import SIZES, encoded
from tracekit.render.roofline import Drawn
from tracekit.session import Session

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "fixtures" / "roofline"
PICTURES = ROOT / "docs" / "rooflines"
#: The V100 that the authors of the Time-Based Roofline measured.
V100 = "V100 (Wang 2020, measured)"
#: Their Fig. 2.
FIGURES = {"a": "classic", "b": "complexity", "c": "time", "d": "4d"}


def demo_store(folder: Path) -> Session:
    """The hand-made reports: blue, red and lstm, the sweep of a convolution, four kernels."""
    store = folder / "S"
    for name in ("blue", "red", "lstm"):
        tracekit.ingest([REPORTS / f"{name}.csv"], store, run_name=name, device_name=V100)
    for path in sorted(REPORTS.glob("conv2d-*.csv")):
        _, framework, precision, batch = path.stem.split("-")
        labels = {"framework": framework, "precision": precision, "batch": batch}
        tracekit.ingest([path], store, run_name=path.stem, device_name=V100, labels=labels)
    levels = ROOT / "fixtures" / "nsight_compute" / "raw-v100-handmade" / "report.csv"
    tracekit.ingest([levels], store, run_name="levels", device_name="Tesla V100-SXM2-16GB")
    return tracekit.open(store)


def pictures(session: Session) -> Iterator[tuple[str, Drawn]]:
    """Every picture by its name."""
    for letter, model in FIGURES.items():
        yield f"fig2{letter}-{model}", session.roofline("blue", "red", by="run", model=model)
    yield "lstm-overhead", session.roofline("lstm", by="run", model="complexity")
    yield "hierarchical", session.roofline("levels", model="hierarchical")
    yield (
        "trajectory-4d",
        session.roofline(
            "conv2d*", model="4d", trajectory="batch", series=("framework", "precision")
        ),
    )
    yield (
        "panels",
        session.roofline("conv2d*", trajectory="batch", series=("framework",), panels="precision"),
    )


def main() -> None:
    """Write all of them."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, drawn in pictures(demo_store(Path(folder))):
            image = encoded(drawn.figure, "png", SIZES["page"], dots_per_inch=130)
            (PICTURES / f"{name}.png").write_bytes(image)


if __name__ == "__main__":
    main()
