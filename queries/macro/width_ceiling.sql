-- purpose = "Processor ceiling for a precision and vector width: of that width, else the next
-- wider known one, else of the precision. NULL if none is known."
-- source = "Javed 2019, sect. 4.1 and 5.1: Peak FLOPS 256 and 512"
-- parameters = "precision_name width_name known_names"
-- width_name = "VARCHAR: scalar, 128, 256, 512, or another"
-- known_names = "VARCHAR: list of the ceilings that are known"
list_filter(
    list_transform(
        case
            width_name
            when 'scalar'
            then ['_scalar', '_sse', '_avx2', '_avx512', '']
            when '128'
            then ['_sse', '_avx2', '_avx512', '']
            when '256'
            then ['_avx2', '_avx512', '']
            when '512'
            then ['_avx512', '']
            else ['']
        end,
        lambda suffix:precision_name || suffix
    ),
    lambda name:list_contains(known_names, name)
)[1]
