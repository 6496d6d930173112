-- purpose = "Launches with counters as one report is asked about them: grouped by something, and
-- with FP16 operations of one convention."
-- upon = "launch_work"
select
    * replace (
        if($by = 'run', (select run_name from run where run_id = $run_id), name) as name,
        if($by = 'launch', event_id, null) as event_id,
        case
            $fp16_convention when 'packed' then fp16 when 'scalar' then fp16 / 2 else fp16_work
        end as fp16_work,
        if($fp16_convention = 'arithmetic', fp16, fp16_work) as fp16
    ),
    name as kernel_name
from launch_work
