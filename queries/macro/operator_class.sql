-- purpose = "What kind of operator a kernel is of, told by its function as libraries name it; 'other' where it says nothing."
-- source = "functions (kernel_function) of cuBLAS, cuDNN, CUTLASS, NCCL, Triton, MIOpen, Tensile, PyTorch and TensorFlow kernels; docs/metrics.md, section Names of kernels"
-- depends = ["is_communication"]
-- [parameters]
-- kernel_name = {type = "VARCHAR", doc = "name of the kernel"}
list_transform([kernel_function(kernel_name)], lambda function: CASE
    -- the first that fits; not taken in by Convert, fbgemm, flashinfer, TruncatedNormal, NormOps of a reduction,
    -- Accumulate, reduced_divisor, pooled, IndexList
    WHEN is_communication(kernel_name, NULL, NULL) THEN 'communication'
    WHEN regexp_matches(function, '(?i)native::reduce_kernel') THEN 'reduction'
    WHEN regexp_matches(function, '(?i)reshape_and_cache|store_?kv_?cache|memset$') THEN 'data movement'
    WHEN regexp_matches(function, '(?i)compute_dot_do_o|convert_dq_to|flash_|fmha|attention|attn|mha_|sdpa|with(paged|ragged)kv') THEN 'attention'
    WHEN regexp_matches(function, '(?i)conv([^e]|e[^r]|$)|winograd|implicit_?gemm|[dw]grad|fprop|bprop|im2col|col2im|igemm_(fwd|bwd|wrw)|scudnn|_[hsi]\d+cudnn|fft[12]d_[rc]2[rc]_|flip_filter|computeb?offsets')
    THEN 'convolution'
    WHEN regexp_matches(function, '(?i)(^|[^b])gemm|(^|[^f])bgemm|gemv|bmm_|matmul|cijk_|cutlass_\d\d|cublas(lt|gem)|mm_kernel|nvjet|splitk|ampere_[hs]\d|volta_[hs]\d|turing_[hs]\d|xmma_[^_]')
    THEN 'gemm'
    WHEN regexp_matches(function, '(?i)lstm|rnn|gru_|elementwise_[bf]p') THEN 'recurrent'
    WHEN regexp_matches(function, '(?i)softmax') THEN 'softmax'
    WHEN regexp_matches(function, '(?i)rotary') THEN 'elementwise'
    WHEN regexp_matches(function, '(?i)embedding') THEN 'embedding'
    WHEN regexp_matches(function, '(?i)philox|random|curand|distribution_') THEN 'random'
    WHEN regexp_matches(function, '(?i)multi_?tensor_?apply') THEN 'optimizer'
    WHEN regexp_matches(function, '(?i)(^|[^e]|[^r]e)norm|bn_[fb]w|welford|moments|gamma_?beta|internalgradients|fusedparams')
    THEN 'normalization'
    WHEN regexp_matches(function, '(?i)pool([^e]|e[^d]|$)') THEN 'pooling'
    WHEN regexp_matches(function, '(?i)adam|adagrad|sgd|rmsprop|optimizer|momentum') THEN 'optimizer'
    WHEN regexp_matches(function, '(?i)dropout') THEN 'random'
    WHEN regexp_matches(function, '(?i)sort|scan|topk|unique|compact|histogram') THEN 'sort and scan'
    WHEN regexp_matches(function, '(?i)memcpy|memset|copy|transpose|transdata|(zeros|ones)_?like|permute|swapdimension|nchwto|nhwcto|shuffl|gather|scatter|concat|catarray|fill|pad|index_?(select|put|func|elementwise|ing_)|linearize_index|nearest|tensor_?transform')
    THEN 'data movement'
    WHEN regexp_matches(function, '(?i)reduc(e[^d]|e$|tion)|(^|:)dot_kernel|argmax|argmin|cumsum|biasgrad|triton_(red|per)_') THEN 'reduction'
    WHEN regexp_matches(function, '(?i)element_?wise|pointwise|vectorized|unrolled|eigen|relu|gelu|silu|sigmoid|tanh|activat|bias|add([^r]|$)|(^|[^u])mul|axpy|axpby|scale|scal_kernel|quantize|epilogue|(^|[^d])cast|realdiv|sqrt|tensor_?op|triton_poi')
    THEN 'elementwise'
    ELSE 'other'
END)[1]
