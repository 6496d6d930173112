-- purpose = "Bytes per tensor element, from the type name in torch; NULL for an unknown type."
-- source = "torch.dtype: c10/core/ScalarType.h, and the C++ names that operators are recorded with"
-- parameters = "type_name"
-- type_name = "VARCHAR: Float, BFloat16, c10::Half, long int …"
list_transform(
    [lower(replace(type_name, 'c10::', ''))],
    lambda name: case
        when regexp_full_match(name, 'byte|bool|(signed |unsigned )?char')
        then 1
        when regexp_full_match(name, 'float8_(e5m2|e4m3fn|e5m2fnuz|e4m3fnuz|e8m0fnu)')
        then 1
        when name in ('half', 'bfloat16', 'short', 'short int', 'uint16', 'unsigned short')
        then 2
        when name in ('float', 'complexhalf', 'complex<half>', 'int', 'uint32', 'unsigned int')
        then 4
        when name in ('double', 'complexfloat', 'complex<float>')
        then 8
        when name in ('long', 'long int', 'long long', 'uint64', 'unsigned long')
        then 8
        when name in ('complexdouble', 'complex<double>')
        then 16
    end
)[1]
