-- purpose = "Bytes per tensor element, from the type name in torch; NULL for an unknown type."
-- source = "torch.dtype: c10/core/ScalarType.h, and the C++ names that operators are recorded with"
-- parameters = "type_name"
-- type_name = "VARCHAR: Float, BFloat16, c10::Half, long int …"
case
    lower(replace(type_name, 'c10::', ''))
    when 'double'
    then 8
    when 'float'
    then 4
    when 'half'
    then 2
    when 'bfloat16'
    then 2
    when 'float8_e5m2'
    then 1
    when 'float8_e4m3fn'
    then 1
    when 'float8_e5m2fnuz'
    then 1
    when 'float8_e4m3fnuz'
    then 1
    when 'float8_e8m0fnu'
    then 1
    when 'complexhalf'
    then 4
    when 'complexfloat'
    then 8
    when 'complexdouble'
    then 16
    when 'complex<half>'
    then 4
    when 'complex<float>'
    then 8
    when 'complex<double>'
    then 16
    when 'long'
    then 8
    when 'long int'
    then 8
    when 'long long'
    then 8
    when 'uint64'
    then 8
    when 'unsigned long'
    then 8
    when 'int'
    then 4
    when 'uint32'
    then 4
    when 'unsigned int'
    then 4
    when 'short'
    then 2
    when 'short int'
    then 2
    when 'uint16'
    then 2
    when 'unsigned short'
    then 2
    when 'byte'
    then 1
    when 'unsigned char'
    then 1
    when 'char'
    then 1
    when 'signed char'
    then 1
    when 'bool'
    then 1
end
