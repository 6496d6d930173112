-- purpose = "Why the operations of one precision are NULL, which are worked out from additions,
-- multiplications and FMA."
-- source = "docs/metrics.md, section Counters"
-- depends = ["why_missing"]
-- [parameters]
-- letter = {type = "VARCHAR", doc = "that of its instructions: d, f or h"}
-- precision_name = {type = "VARCHAR", doc = "fp64, fp32 or fp16"}
-- rate = {type = "DOUBLE", doc = "instructions per cycle; NULL if a part of them is unknown"}
-- statuses = {type = "VARCHAR", doc = "status_json of the launch"}
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
