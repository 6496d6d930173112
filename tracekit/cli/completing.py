"""What a shell offers after TAB: names of reports, runs, charts, formats, devices, outputs.

Nothing here fails or prints: without a store, or with one that cannot be read, nothing is offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import typer

from tracekit.urls import path_of

Completer = Callable[[str], list[str]]


def runs(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of the runs in the store that the command line is about."""
    from tracekit.cli.hints import run_names_in, store_of

    given = ctx.params.get("store")
    return _beginning(run_names_in(path_of(str(given)) if given else store_of(())), incomplete)


def reports(incomplete: str) -> list[str]:
    """Return the names of reports and findings."""
    from tracekit.catalog import finding_names, report_names

    return _beginning([*report_names(), *finding_names()], incomplete)


def charts(incomplete: str) -> list[str]:
    """Return the names of charts."""
    from tracekit.charts import chart_names

    return _beginning(chart_names(), incomplete)


def formats(incomplete: str) -> list[str]:
    """Return the names of formats that can be read."""
    from tracekit.registry import parsers

    return _beginning(parsers(), incomplete)


def outputs(incomplete: str) -> list[str]:
    """Return the names of output formats."""
    from tracekit.render import renderer_names

    return _beginning(renderer_names(), incomplete)


def devices(incomplete: str) -> list[str]:
    """Return the names of known devices, and their short names."""
    from tracekit import peaks

    models = peaks.models()
    return _beginning(
        [name for model in models for name in (model.name, *model.aliases)], incomplete
    )


def models(incomplete: str) -> list[str]:
    """Return the models of rooflines."""
    from tracekit.roofline.chart import MODELS

    return _beginning(MODELS, incomplete)


def points(incomplete: str) -> list[str]:
    """Return what a point of a roofline can stand for."""
    from tracekit.roofline.request import GRANULARITIES

    return _beginning(GRANULARITIES, incomplete)


def one_of(*choices: str) -> Completer:
    """Return the completer of an option that has these values."""
    return lambda incomplete: _beginning(choices, incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that begin so, without those that have control characters."""
    return [name for name in names if name.startswith(incomplete) and name.isprintable()]
