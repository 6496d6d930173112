-- purpose = "Student's t of 95 %, both sides: how many standard errors a difference can have by chance."
-- source = "Student 1908; the table in any book of statistics, between its lines the larger value"
-- parameters = {freedom = {type = "DOUBLE", doc = "degrees of freedom"}}
CASE
    WHEN freedom >= 120 THEN 1.980
    WHEN freedom >= 60 THEN 2.000
    WHEN freedom >= 30 THEN 2.042
    WHEN freedom >= 20 THEN 2.086
    WHEN freedom >= 15 THEN 2.131
    ELSE CAST([12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228][least(CAST(floor(freedom) AS BIGINT), 10)] AS DOUBLE)
END
