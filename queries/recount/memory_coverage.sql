-- purpose = "Events of a device make blocks, address by address, and change its total."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "memory_coverage"
-- keys = ["source_id", "process_id", "device_kind", "device_id"]
-- needs = ["memory_event"]
-- is_partial = true
with
    sized as (
        select
            * exclude (size_bytes),
            coalesce(
                size_bytes, - if(last_bytes > 0 and address is not null, last_bytes, null)
            ) as size_bytes
        from
            (
                select
                    *,
                    lag(size_bytes) over (
                        partition by source_id, process_id, device_kind, device_id, address
                        order by time_ns, event_id
                    ) as last_bytes
                from memory_event
                where run_id = $run_id
            )
    ),
    events as (
        select
            *,
            lead(size_bytes) over of_address as next_bytes,
            lag(size_bytes) over of_address as earlier_bytes,
            lag(total_allocated_bytes) over of_device as last_total
        from sized
        window
            of_address as (
                partition by source_id, process_id, device_kind, device_id, address
                order by time_ns, event_id
            ),
            of_device as (
                partition by source_id, process_id, device_kind, device_id
                order by time_ns, event_id
            )
    )
select
    source_id,
    process_id,
    device_kind,
    device_id,
    count(*) as event_count,
    nullif(
        count(address) filter (where size_bytes > 0)
        + count(address) filter (where size_bytes < 0 and coalesce(earlier_bytes, -1) < 0),
        0
    ) as block_count,
    if(
        block_count is null, null, count(address) filter (where size_bytes > 0 and next_bytes < 0)
    ) as whole_count,
    if(
        block_count is null,
        null,
        count(address) filter (where size_bytes > 0 and next_bytes is null)
    ) as held_count,
    if(
        block_count is null,
        null,
        count(address) filter (where size_bytes < 0 and coalesce(earlier_bytes, -1) < 0)
    ) as begun_before_count,
    if(
        block_count is null, null, count(address) filter (where size_bytes > 0 and next_bytes > 0)
    ) as lost_release_count,
    if(
        block_count is null,
        null,
        count(address) filter (
            where size_bytes > 0 and next_bytes < 0 and size_bytes <> - next_bytes
        )
    ) as unequal_count,
    if(
        count(total_allocated_bytes) = 0,
        null,
        count(*) filter (where total_allocated_bytes - size_bytes <> last_total)
    ) as unaccounted_count,
    if(
        count(total_allocated_bytes) = 0,
        null,
        coalesce(sum(abs(total_allocated_bytes - size_bytes - last_total)), 0)
    ) as unaccounted_bytes,
    nullif(
        arg_min(coalesce(total_allocated_bytes - size_bytes, -1), (time_ns, event_id)), -1
    ) as before_bytes
from events
group by source_id, process_id, device_kind, device_id
-- whether one without a size is a release is known at the address of a block alone
having count(*) = count(size_bytes)
