-- purpose = "Bytes/s per unit of traffic: GB/s is 1e9, GiB/s 2**30; NULL for other units (Gb/s
-- are bits)."
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
