-- purpose = "Bytes of one element of a tensor, by the name that torch gives its type; NULL for a type that is not known."
-- source = "torch.dtype: c10/core/ScalarType.h, and the C++ names that operators are recorded with"
-- [parameters]
-- type_name = {type = "VARCHAR", doc = "Float, BFloat16, c10::Half, long int …"}
CASE lower(replace(type_name, 'c10::', ''))
    WHEN 'double' THEN 8 WHEN 'float' THEN 4 WHEN 'half' THEN 2 WHEN 'bfloat16' THEN 2
    WHEN 'float8_e5m2' THEN 1 WHEN 'float8_e4m3fn' THEN 1 WHEN 'float8_e5m2fnuz' THEN 1
    WHEN 'float8_e4m3fnuz' THEN 1 WHEN 'float8_e8m0fnu' THEN 1
    WHEN 'complexhalf' THEN 4 WHEN 'complexfloat' THEN 8 WHEN 'complexdouble' THEN 16
    WHEN 'complex<half>' THEN 4 WHEN 'complex<float>' THEN 8 WHEN 'complex<double>' THEN 16
    WHEN 'long' THEN 8 WHEN 'long int' THEN 8 WHEN 'long long' THEN 8 WHEN 'uint64' THEN 8 WHEN 'unsigned long' THEN 8
    WHEN 'int' THEN 4 WHEN 'uint32' THEN 4 WHEN 'unsigned int' THEN 4 WHEN 'short' THEN 2 WHEN 'short int' THEN 2 WHEN 'uint16' THEN 2 WHEN 'unsigned short' THEN 2
    WHEN 'byte' THEN 1 WHEN 'unsigned char' THEN 1 WHEN 'char' THEN 1 WHEN 'signed char' THEN 1 WHEN 'bool' THEN 1
END
