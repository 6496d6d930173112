-- purpose = "Work of sources with a plain window, and the window."
-- upon = "source_window"
select uncut_work.*, window_start_ns as from_ns, elapsed_ns
from uncut_work
join source_window using (source_id)
