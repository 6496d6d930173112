"""The text of a counter as the tool wrote it, where the store leaves it out."""

from __future__ import annotations

from tracekit.schema import RAW_POWER_BIAS


def written(value: str, kind: str) -> str:
    """Return SQL for the text of a number, from its value and `kernel_metric.raw_format`."""
    decimals, power = f"(({kind} // 2) % 10)", f"({kind} // 20 - {RAW_POWER_BIAS})"
    shift = f"({decimals} - {power})"
    scaled = f"if({shift} >= 0, {value} * pow(10.0, {shift}), {value} / pow(10.0, -{shift}))"
    digits, scale = f"CAST(round({scaled}) AS BIGINT)", f"CAST(pow(10, {decimals}) AS BIGINT)"
    whole, rest = f"({digits} // {scale})", f"({digits} % {scale})"
    fraction = f"'.' || lpad(CAST({rest} AS VARCHAR), CAST({decimals} AS INTEGER), '0')"
    grouped = f"if({kind} % 2 = 1, format('{{:,}}', {whole}), CAST({whole} AS VARCHAR))"
    return f"{grouped} || if({decimals} > 0, {fraction}, '')"
