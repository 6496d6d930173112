-- purpose = "How many bytes/s a unit of traffic is: GB/s is 1e9, GiB/s 2**30. NULL of any other
-- unit: Gb/s are bits."
-- source = "docs/metrics.md, section Sweeps"
-- parameters = "unit"
case
    when regexp_full_match(unit, '([kKMGTPE]i?)?(B|[bB]ytes?)/s(ec)?')
    then
        pow(
            case when substr(unit, 2, 1) = 'i' then 1024.0 else 1000.0 end,
            strpos('KMGTPE', upper(left(unit, 1)))
        )
end
