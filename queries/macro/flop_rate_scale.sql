-- purpose = "How many FLOP/s a unit of a rate of operations is: GFLOP/s is 1e9. NULL of any other
-- unit: GFLOPs are operations, and no rate."
-- source = "docs/metrics.md, section Sweeps"
-- parameters = "unit"
case
    when regexp_full_match(unit, '[kKmMgGtTpPeE]?(FLOPS|flops|(FLOPs?|flops?|FLOPS)/s(ec)?)')
    then pow(1000.0, strpos('KMGTPE', upper(left(unit, 1))))
end
