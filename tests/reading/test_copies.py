"""Names of copies, each as its profiler writes it."""

from __future__ import annotations

import pytest

from tracekit.reading.copies import between, direction


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Memcpy HtoD (Pageable -> Device)", "host_to_device"),  # torch.profiler, CUPTI
        ("Memcpy DtoH (Device -> Pinned)", "device_to_host"),
        ("Memcpy DtoD (Device -> Device)", "device_to_device"),
        ("Memcpy HtoD (Unknown -> Device)", None),  # what it spells out counts
        ("Memcpy M2D (Memory -> Device)", "host_to_device"),  # XPU
        ("Memcpy D2M", "device_to_host"),
        ("Memcpy PtoP", "device_to_device"),
        ("[CUDA memcpy HtoD]", "host_to_device"),  # nvprof
        ("[CUDA memcpy DtoA]", "device_to_device"),
        ("[CUDA memcpy DtoH async]", "device_to_host"),
        ("[CUDA memset]", None),
        ("MemcpyH2D", "host_to_device"),  # XLA
        ("memcpy_D2H", "device_to_host"),
        ("MemcpyD2D", "device_to_device"),
        ("MEMCPYHtoD", "host_to_device"),  # TensorFlow 1
        ("MEMCPYDtoH", "device_to_host"),
        ("MEMCPYPtoP", "device_to_device"),
        ("HtoDevice", None),
        ("edge_HtoD", None),
        ("", None),
    ],
)
def test_direction(name: str, expected: str | None) -> None:
    assert direction(name) == expected


def test_between() -> None:
    assert between("pinned", "device") == "host_to_device"
    assert between("Host", "nowhere") is None
    assert between("", "") is None
