-- purpose = "Floating-point types of tensor cores of a compute capability: a sum is 0 only if all
-- of them were counted."
-- source = "NVIDIA Nsight Compute, section SpeedOfLight_HierarchicalTensorRooflineChart;
-- docs/metrics.md, section Work"
-- parameters = "capability generation"
case
    when generation < 7
    then []
    when generation = 7
    then ['fp16']
    when capability = '8.0'
    then ['bf16', 'fp16', 'tf32', 'fp64']
    when capability = '8.9'
    then ['bf16', 'fp16', 'tf32', 'fp8']
    when generation = 8
    then ['bf16', 'fp16', 'tf32']
    when generation > 9
    then ['bf16', 'fp16', 'tf32', 'fp8', 'fp4']
    else ['bf16', 'fp16', 'tf32', 'fp64', 'fp8']
end
