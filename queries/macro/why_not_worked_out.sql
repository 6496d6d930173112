-- purpose = "Why the operations of one precision, computed from additions, multiplications and FMA,
-- are NULL."
-- source = "docs/metrics.md, section Work: operations and bytes"
-- depends = ["why_missing"]
-- parameters = "letter precision_name rate statuses"
-- letter = "VARCHAR: d, f or h, as in the names of its instructions"
-- rate = "DOUBLE: instructions per cycle; NULL if a part of them is unknown"
case
    when rate is not null
    then 'cycles unknown'
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
