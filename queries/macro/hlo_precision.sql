-- purpose = "Type that an instruction of XLA works on: the one of all its operands that are
-- numbers; NULL if they have several, or the text does not say."
-- source = "XLA, Operation Semantics: the text of an instruction; docs/metrics.md, section
-- Operators"
-- parameters = "instruction"
-- instruction = "VARCHAR: hlo_text"
case
    list_distinct(
        regexp_extract_all(
            -- behind the type of the result, and the opcode
            regexp_extract(instruction, '^[^=]*= .*? [a-z][\w\-]*\((.*)$', 1),
            '\b(f64|f32|bf16|f16|f8|s8|u8)\w*\[',
            1
        )
    )
    when ['f64']
    then 'fp64'
    when ['f32']
    then 'fp32'
    when ['bf16']
    then 'bf16'
    when ['f16']
    then 'fp16'
    when ['f8']
    then 'fp8'
    when ['s8']
    then 'int8'
    when ['u8']
    then 'uint8'
end
