-- purpose = "Minimum time of work in ns: work / peak; 0 without work, NULL if a needed peak is
-- unknown."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II: compute time and bandwidth time"
-- parameters = "work peak"
-- work = "DOUBLE: operations or bytes"
-- peak = "DOUBLE: operations or bytes per second"
case when work = 0 then 0.0 else ratio(work * 1e9, peak) end
