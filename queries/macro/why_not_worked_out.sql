-- purpose = "Why the operations of one precision, computed from additions, multiplications and FMA,
-- are NULL."
-- source = "docs/metrics.md, section Counters"
-- depends = ["why_missing"]
-- parameters = "letter precision_name rate statuses"
-- letter = "VARCHAR: d, f or h, as in the names of its instructions"
-- precision_name = "VARCHAR: fp64, fp32 or fp16"
-- rate = "DOUBLE: instructions per cycle; NULL if a part of them is unknown"
-- statuses = "VARCHAR: status_json of the launch"
case
    when rate is not null
    then 'cycles not known'
    else
        why_missing(
            statuses,
            [
                '$.' || letter || 'add_inst',
                '$.' || letter || 'mul_inst',
                '$.' || letter || 'fma_inst',
                '$.' || letter || 'add_per_cycle',
                '$.' || letter || 'mul_per_cycle',
                '$.' || letter || 'fma_per_cycle',
                '$.' || precision_name || '_flop'
            ]
        )
end
