-- purpose = "Products on FP16 units take longer than tensor cores would."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "product_in_fp16"
-- keys = ["source_id", "device_id", "name"]
-- needs = ["attribution", "device"]
-- upon = "unit_product"
-- is_partial = true
select * exclude (unit_name, tensor_name) from unit_product where unit_name = 'fp16'
