-- purpose = "Why a share of a peak is not shown: which work is above which peak, and which of the
-- two and the time are measured; NULL if the share is possible."
-- source = "docs/metrics.md, section Above the peak"
-- depends = ["max_share"]
-- parameters = "ratio_to_peak work_words peak_words"
-- ratio_to_peak = "DOUBLE: work / (peak x time)"
-- work_words = "VARCHAR: the work and where it is from: operations (modeled)"
-- peak_words = "VARCHAR: the peak and where it is from: the peak fp32 (datasheet)"
case
    when ratio_to_peak > max_share()
    then
        'impossible: '
        || work_words
        || ' in the measured time are above '
        || peak_words
        || case
            when work_words like 'bytes%' and work_words not like '%(measured)'
            then ': read from a cache, or wrong'
            else ''
        end
end
