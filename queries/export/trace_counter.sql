-- purpose = "Counters of a timeline as events of a Chrome trace."
-- source = "Trace Event Format, as kineto writes it; docs/export.md, section Perfetto"
-- needs = ["counter"]
-- depends = ["trace_member", "trace_process", "trace_process_name", "trace_source",
-- "trace_thread", "trace_us"]
-- parameters = "run_id phase"
-- columns = "event_json"
select
    concat(
        '{"ph":"C"',
        trace_member('name', to_json(event_name)),
        trace_member('pid', process.pid_json),
        trace_member(
            'tid',
            trace_thread(counter.process_id, counter.thread_id, counter.track_name, null, null)
        ),
        ',"ts":',
        trace_us(time_ns + shift_ns),
        ',"args":{',
        to_json(coalesce(series_name, 'value')),
        ':',
        case
            when value is not null and json_valid(value_raw)
            then value_raw
            when isfinite(value)
            then cast(value as varchar)
            else coalesce(cast(to_json(value_raw) as varchar), 'null')
        end,
        '}}'
    ) as event_json
from counter
join trace_source($run_id, $phase) as source using (source_id)
join
    trace_process($run_id, $phase) as process
    on process.source_id = counter.source_id
    and process.process_id is not distinct from counter.process_id
    and process.process_name is not distinct from trace_process_name(
        counter.process_id, counter.thread_id, counter.track_name, null
    )
where
    counter.run_id = $run_id
    and record_kind is null
    and coalesce(time_ns between first_ns and last_ns, false)
