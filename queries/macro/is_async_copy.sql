-- purpose = "Whether an HLO instruction starts or awaits a concurrent copy, so that its time is
-- not work."
-- source = "OpenXLA, HLO opcodes copy-start, copy-done, async-start, async-done; docs/metrics.md,
-- section overlap"
-- parameters = "instruction_name category_name"
-- instruction_name = "VARCHAR: name of the instruction: copy-done.3"
-- category_name = "VARCHAR: category: copy-done; async-done for an asynchronous slice, which does
-- not identify what runs"
coalesce(
    regexp_matches(
        case
            when starts_with(category_name, 'async-')
            then instruction_name
            else coalesce(category_name, instruction_name)
        end,
        '^%?(copy|slice|dynamic-slice|dynamic-update-slice)-(start|update|done)(\.|$)'
    ),
    false
)
