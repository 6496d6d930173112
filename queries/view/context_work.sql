-- purpose = "Modeled work of one call in each calling context, and the context that owns the work
-- of its kernels."
-- source = "docs/metrics.md, section Modelled work"
-- needs = ["calling_context"]
-- depends = ["work_by_context"]
-- columns = "run_id source_id context_id-work name-member family_name is_heavy flop_count
-- read_bytes write_bytes accessed_bytes precision_name-computed comm_bytes
-- provenance_kind-modelled reason unit_context_id"
from work_by_context(null)
