-- purpose = "Forward or backward pass, told by the name of a kernel where it says; else NULL."
-- source = "names of cuDNN, MIOpen, PyTorch and TensorFlow kernels; Awan 2017, sect. 5: layers split into forward and backward"
-- [parameters]
-- kernel_name = {type = "VARCHAR", doc = "name of the kernel"}
CASE
    -- Winograd and Adagrad are neither; fp and bp are cuDNN's, fp16 and fp8 are not
    WHEN regexp_matches(kernel_name, '(?i)backward|bwd|bprop|(^|[^ao]|ta)grad|_wrw|_bw_|_bp[12]?([_<(]|$)') THEN 'backward'
    WHEN regexp_matches(kernel_name, '(?i)forward|fwd|fprop|_fw_|_fp[12]?([_<(]|$)') THEN 'forward'
END
