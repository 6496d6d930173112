-- purpose = "Whether a kernel is a matrix product or convolution on FP16 units, not on tensor
-- cores, by its name."
-- source = "names of cuBLAS, cuDNN and CUTLASS kernels: hgemm, hcudnn and cuDNN's engines on half
-- are FP16 units; h884, h1688, h16816, s884, tensorop and hmma are tensor cores; docs/metrics.md,
-- section Names of kernels"
-- parameters = "kernel_name"
regexp_matches(kernel_name, '(^|[^a-z])hgemm|simt_hgemm|hcudnn|grad(2d)?(_alg\d)?_engine<__half')
and not regexp_matches(kernel_name, 'tensorop|[hs]884|[hs]1688|[hs]16816|hmma|hgmma|wgmma')
