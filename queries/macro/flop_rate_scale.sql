-- purpose = "FLOP/s per unit of a rate: GFLOP/s is 1e9; NULL for other units (GFLOPs are
-- operations, not a rate)."
-- source = "docs/metrics.md, section Sweeps"
-- parameters = "unit"
case
    when regexp_full_match(unit, '[kKmMgGtTpPeE]?(FLOPS|flops|(FLOPs?|flops?|FLOPS)/s(ec)?)')
    then pow(1000.0, strpos('KMGTPE', upper(left(unit, 1))))
end
