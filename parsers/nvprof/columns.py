"""Which of nvprof's metrics are columns of `kernel_counter`."""

from __future__ import annotations

# flop_count_* count a fused multiply-add as two; their parts count instructions of a thread. Those
# of flop_count_hp count a packed instruction as two, so they are no hadd_inst.
COUNTERS = {
    "flop_count_sp": "fp32_flop",
    "flop_count_dp": "fp64_flop",
    "flop_count_hp": "fp16_flop",
    "dram_read_transactions": "dram_read_sector_count",
    "dram_write_transactions": "dram_write_sector_count",
    "dram_read_bytes": "dram_read_bytes",
    "dram_write_bytes": "dram_write_bytes",
}
# What the caches above ask of L2, in sectors of 32 bytes. Atomics are in neither of them.
L2_SECTORS = ("l2_read_transactions", "l2_write_transactions")
OCCUPANCY = "achieved_occupancy"
# A unit's level of use is rounded up: ``Idle (0)`` is no use at all, 0.5 % is ``Low (1)``.
LEVELS = {"tensor_precision_fu_utilization": "tensor_inst"}
