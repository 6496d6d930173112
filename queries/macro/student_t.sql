-- purpose = "Two-sided Student's t for 95 %: the number of standard errors that chance can
-- explain."
-- source = "Student 1908; statistics tables, with the larger value between their rows"
-- parameters = "freedom"
-- freedom = "DOUBLE: degrees of freedom"
case
    when freedom >= 120
    then 1.980
    when freedom >= 60
    then 2.000
    when freedom >= 30
    then 2.042
    when freedom >= 20
    then 2.086
    when freedom >= 15
    then 2.131
    else
        cast(
            [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228][
                least(cast(floor(freedom) as bigint), 10)
            ] as double
        )
end
