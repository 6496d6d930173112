-- purpose = "Operators of a profiler's table as a report is asked about them: of each device, each
-- source or the run."
-- upon = "listed_op"
select
    * replace (
        if($scope = 'run', null, source_id) as source_id,
        if($scope = 'device', device_id, null) as device_id
    )
from listed_op
