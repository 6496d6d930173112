-- purpose = "Launches on a device with known peaks as a report is asked about them: of each kernel,
-- each launch or the run."
-- upon = "launch_peak"
select
    * replace (
        if($by = 'run', (select run_name from run where run_id = $run_id), name) as name,
        if($by = 'launch', event_id, null) as event_id
    )
from launch_peak
