-- purpose = "Timelines of a run in a trace: their clock, and the times of the steps that are
-- exported."
-- source = "docs/export.md, section Perfetto"
-- needs = ["source_file"]
-- depends = ["source_clock", "step_span", "chosen_step"]
-- is_kept = true
-- parameters = "wanted_run wanted_phase"
-- columns = "source_id source_index timeline_count shift_ns first_ns last_ns id_stride"
-- first_ns = "BIGINT: start of the steps, or of their work if it is earlier; all events that start
-- from here to last_ns are exported"
-- last_ns = "BIGINT: end of the steps, or of their work if it is later"
-- id_stride = "BIGINT: what numbers of one timeline are apart from those of the next"
with
    windows as (
        select
            chosen.source_id,
            min(least(spans.mark_start_ns, spans.start_ns)) as first_ns,
            max(greatest(spans.mark_start_ns + spans.mark_ns, spans.end_ns)) as last_ns
        from chosen_step(wanted_run, wanted_phase) as chosen
        join
            step_span(wanted_run) as spans
            on spans.source_id = chosen.source_id
            and spans.step_index between chosen.first_step_index and chosen.last_step_index
        group by chosen.source_id
    )
select
    clocks.source_id,
    clocks.source_index,
    clocks.timeline_count,
    clocks.shift_ns,
    case when wanted_phase = 'all' then -9223372036854775807 else windows.first_ns end as first_ns,
    case when wanted_phase = 'all' then 9223372036854775807 else windows.last_ns end as last_ns,
    case
        when clocks.timeline_count > 1 then 4294967296 * clocks.source_index else 0
    end as id_stride
from source_clock(wanted_run, wanted_phase) as clocks
left join windows using (source_id)
where wanted_phase = 'all' or windows.source_id is not null
