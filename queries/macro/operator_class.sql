-- purpose = "Operator class of a kernel, from its function as libraries name it; else 'other'."
-- source = "functions (kernel_function) of cuBLAS, cuDNN, CUTLASS, NCCL, Triton, MIOpen, Tensile,
-- PyTorch and TensorFlow kernels; docs/metrics.md, section Names of kernels"
-- depends = ["is_communication"]
-- parameters = "kernel_name"
list_transform(
    [kernel_function(kernel_name)],
    lambda function: case
        -- the first that fits; not taken in by Convert, fbgemm, flashinfer, TruncatedNormal,
        -- NormOps of a reduction,
        -- Accumulate, reduced_divisor, pooled, IndexList
        when is_communication(kernel_name, null, null)
        then 'communication'
        when regexp_matches(function, '(?i)native::reduce_kernel')
        then 'reduction'
        when regexp_matches(function, '(?i)reshape_and_cache|store_?kv_?cache|memset$')
        then 'data movement'
        when
            regexp_matches(
                function,
                '(?i)compute_dot_do_o|convert_dq_to|flash_|fmha|attention|attn|mha_|sdpa'
                || '|with(paged|ragged)kv'
            )
        then 'attention'
        when
            regexp_matches(
                function,
                '(?i)conv([^e]|e[^r]|$)|winograd|implicit_?gemm|[dw]grad|fprop|bprop|im2col'
                || '|col2im|igemm_(fwd|bwd|wrw)|scudnn|_[hsi]\d+cudnn|fft[12]d_[rc]2[rc]_'
                || '|flip_filter|computeb?offsets'
            )
        then 'convolution'
        when
            regexp_matches(
                function,
                '(?i)(^|[^b])gemm|(^|[^f])bgemm|gemv|bmm_|matmul|cijk_|cutlass_\d\d|cublas(lt'
                || '|gem)|mm_kernel|nvjet|splitk|ampere_[hs]\d|volta_[hs]\d|turing_[hs]\d'
                || '|xmma_[^_]'
            )
        then 'matmul'
        when regexp_matches(function, '(?i)lstm|rnn|gru_|elementwise_[bf]p')
        then 'recurrent'
        when regexp_matches(function, '(?i)softmax')
        then 'softmax'
        when regexp_matches(function, '(?i)rotary')
        then 'elementwise'
        when regexp_matches(function, '(?i)embedding')
        then 'embedding'
        when regexp_matches(function, '(?i)philox|random|curand|distribution_')
        then 'random'
        when regexp_matches(function, '(?i)multi_?tensor_?apply')
        then 'optimizer'
        when
            regexp_matches(
                function,
                '(?i)(^|[^e]|[^r]e)norm|bn_[fb]w|welford|moments|gamma_?beta'
                || '|internalgradients|fusedparams'
            )
        then 'normalization'
        when regexp_matches(function, '(?i)pool([^e]|e[^d]|$)')
        then 'pooling'
        when regexp_matches(function, '(?i)adam|adagrad|sgd|rmsprop|optimizer|momentum')
        then 'optimizer'
        when regexp_matches(function, '(?i)dropout')
        then 'random'
        when regexp_matches(function, '(?i)sort|scan|cumsum|topk|unique|compact|histogram')
        then 'sort and scan'
        when
            regexp_matches(
                function,
                '(?i)memcpy|memset|copy|transpose|transdata|(zeros|ones)_?like|permute'
                || '|swapdimension|nchwto|nhwcto|shuffl|gather|scatter|concat|catarray|fill|pad'
                || '|index_?(select|put|func|elementwise|ing_)|linearize_index|nearest'
                || '|tensor_?transform'
            )
        then 'data movement'
        when
            regexp_matches(
                function,
                '(?i)reduc(e[^d]|e$|tion)|(^|:)dot_kernel|argmax|argmin|biasgrad'
                || '|triton_(red|per)_'
            )
        then 'reduction'
        when
            regexp_matches(
                function,
                '(?i)element_?wise|pointwise|vectorized|unrolled|eigen|relu|gelu|silu|sigmoid'
                || '|tanh|activat|bias|add([^r]|$)|(^|[^u])mul|axpy|axpby|scale|scal_kernel'
                || '|quantize|epilogue|(^|[^d])cast|realdiv|sqrt|tensor_?op|triton_poi'
            )
        then 'elementwise'
        else 'other'
    end
)[1]
