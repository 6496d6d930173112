-- purpose = "Counters of all operations of a device, comma-separated: what missing_metrics lists
-- if nothing was counted, and integer operations."
-- source = "docs/metrics.md, section Work"
-- depends = ["has_packed_fp32", "missing_metrics", "tensor_kinds", "tensor_metrics"]
-- parameters = "capability generation"
concat_ws(
    ',',
    missing_metrics(
        capability,
        generation,
        true,
        true,
        has_packed_fp32(generation),
        true,
        tensor_kinds(capability, generation)
    ),
    case
        when generation >= 7 and capability <> '7.0'
        then array_to_string(tensor_metrics(capability, generation, ['int8']), ',')
    end
)
