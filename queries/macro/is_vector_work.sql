-- purpose = "Whether an operator of a profiler has no product in it, so that no matrix unit can
-- do its
-- work: by its class, and of a fusion by its category or name."
-- source = "XLA: fusions of loops and reductions (kLoop, kInput) contain no dot or convolution;
-- docs/metrics.md, section Operators"
-- parameters = "class_name operator_name category_text"
-- class_name = "VARCHAR: op_class"
-- operator_name = "VARCHAR: name of the operator"
-- category_text = "VARCHAR: category_name"
case
    when class_name = 'fusion'
    then
        coalesce(
            category_text in ('loop fusion', 'input fusion')
            or regexp_matches(operator_name, '^%?(loop|input|wrapped)_'),
            false
        )
    else
        class_name in (
            'elementwise',
            'reduction',
            'data movement',
            'normalization',
            'softmax',
            'random',
            'pooling',
            'embedding',
            'optimizer',
            'sort and scan',
            'view'
        )
end
