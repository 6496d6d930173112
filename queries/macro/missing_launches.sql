-- purpose = "Reason with the number of kernels whose launch is not in the file; NULL if each is."
-- source = "docs/metrics.md, section launch_bounds"
-- parameters = "known_kernels all_kernels"
-- known_kernels = "BIGINT: kernels with a launch"
-- all_kernels = "BIGINT: kernels"
case
    when known_kernels < all_kernels and known_kernels = 0
    then 'launches not in the file'
    when known_kernels < all_kernels
    then
        'launches of '
        || (all_kernels - known_kernels)
        || ' of '
        || all_kernels
        || ' kernels not in the file'
end
