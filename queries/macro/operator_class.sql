-- purpose = "What kind of operator a kernel is of, told by its name as libraries write them; 'other' where it says nothing."
-- source = "names of cuBLAS, cuDNN, CUTLASS, NCCL, Triton, MIOpen, Tensile, PyTorch and TensorFlow kernels; docs/metrics.md, section Operator classes"
-- depends = ["is_communication"]
-- [parameters]
-- kernel_name = {type = "VARCHAR", doc = "name of the kernel"}
CASE
    -- the first that fits; not taken in by Convert, fbgemm, flashinfer, TruncatedNormal, NormOps of a reduction,
    -- Accumulate, reduced_divisor, pooled, IndexList
    WHEN is_communication(kernel_name, NULL) THEN 'communication'
    WHEN regexp_matches(kernel_name, '(?i)native::reduce_kernel<') THEN 'reduction'
    WHEN regexp_matches(kernel_name, '(?i)flash_|fmha|attention|attn|mha_|sdpa|with(paged|ragged)kv') THEN 'attention'
    WHEN regexp_matches(kernel_name, '(?i)conv([^e]|e[^r]|$)|winograd|implicit_?gemm|[dw]grad|fprop|bprop|im2col|col2im|igemm_(fwd|bwd|wrw)|scudnn|_[hsi]\d+cudnn|fft[12]d_[rc]2[rc]_|flip_filter|computeb?offsets')
    THEN 'convolution'
    WHEN regexp_matches(kernel_name, '(?i)(^|[^b])gemm|(^|[^f])bgemm|gemv|bmm_|matmul|cijk_|cutlass_\d\d|cublas(lt|gem)|mm_kernel|nvjet|splitk|ampere_[hs]\d|volta_[hs]\d|turing_[hs]\d|xmma')
    THEN 'gemm'
    WHEN regexp_matches(kernel_name, '(?i)lstm|rnn|gru_') THEN 'recurrent'
    WHEN regexp_matches(kernel_name, '(?i)softmax') THEN 'softmax'
    WHEN regexp_matches(kernel_name, '(?i)rotary') THEN 'elementwise'
    WHEN regexp_matches(kernel_name, '(?i)embedding') THEN 'embedding'
    WHEN regexp_matches(kernel_name, '(?i)philox|random|curand|distribution_') THEN 'random'
    WHEN regexp_matches(kernel_name, '(?i)multi_?tensor_?apply') THEN 'optimizer'
    WHEN regexp_matches(kernel_name, '(?i)(^|[^e]|[^r]e)norm|bn_[fb]w|welford|moments|gamma_?beta|internalgradients|fusedparams')
    THEN 'normalization'
    WHEN regexp_matches(kernel_name, '(?i)pool([^e]|e[^d]|$)') THEN 'pooling'
    WHEN regexp_matches(kernel_name, '(?i)adam|adagrad|sgd|rmsprop|optimizer|momentum') THEN 'optimizer'
    WHEN regexp_matches(kernel_name, '(?i)dropout') THEN 'random'
    WHEN regexp_matches(kernel_name, '(?i)sort|scan|topk|unique|histogram') THEN 'sort and scan'
    WHEN regexp_matches(kernel_name, '(?i)memcpy|memset|copy|transpose|permute|swapdimension|nchwto|nhwcto|shuffl|gather|scatter|concat|catarray|fill|pad|index_?(select|put|func|elementwise|ing_)|linearize_index|nearest|tensor_?transform')
    THEN 'data movement'
    WHEN regexp_matches(kernel_name, '(?i)reduc(e[^d]|e$|tion)|argmax|argmin|cumsum|biasgrad|triton_(red|per)_') THEN 'reduction'
    WHEN regexp_matches(kernel_name, '(?i)element_?wise|pointwise|vectorized|unrolled|eigen|relu|gelu|silu|sigmoid|tanh|activat|bias|add([^r]|$)|(^|[^u])mul|axpy|axpby|scale|tensor_?op|triton_poi')
    THEN 'elementwise'
    ELSE 'other'
END
