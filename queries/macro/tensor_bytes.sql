-- purpose = "Bytes of each tensor recorded with an operator or annotation, in order; NULL if its
-- shape or type is unknown."
-- source = "`slice.input_dims` and `slice.input_types`, as torch.profiler records them with
-- record_shapes"
-- depends = ["element_bytes"]
-- parameters = "dims_text types_text"
-- dims_text = "VARCHAR: shapes, as JSON: [[6144], []]"
-- types_text = "VARCHAR: their types, as JSON"
list_transform(
    list_zip(try_cast(dims_text as bigint[][]), try_cast(types_text as varchar[])),
    lambda tensor:list_product(tensor[1]) * element_bytes(tensor[2])
)
