-- purpose = "Forward or backward pass, from the function of a kernel or the NVTX range before its
-- name; else NULL."
-- source = "names of cuDNN, MIOpen, PyTorch and TensorFlow kernels; Awan 2017, sect. 5: layers
-- split into forward and backward"
-- parameters = "kernel_name"
list_filter(
    list_transform(
        [kernel_function(kernel_name), regexp_extract(kernel_name, '^(?:[\w. -]+/)+')],
        lambda function: case
            -- Winograd and Adagrad are neither; fp and bp are cuDNN's, fp16 and fp8 are not
            when
                regexp_matches(
                    function,
                    '(?i)backward|bwd|bprop|backprop|(^|[^ao]|ta)grad|_wrw|_bw_|_bp[12]?([_ /]|$)'
                )
            then 'backward'
            when regexp_matches(function, '(?i)forward|fwd|fprop|_fw_|_fp[12]?([_ /]|$)')
            then 'forward'
        end
    ),
    lambda phase:phase is not null
)[1]
