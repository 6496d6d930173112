-- purpose = "Processor of each source with perf stat measurements, with what the user says about
-- it."
-- source = "tables measurement, assumption, device_model and cpu_family"
-- needs = ["measurement"]
-- depends = ["device_key"]
-- columns = "run_id source_id device_name model_name vendor_name architecture_name core_count
-- ignored_name"
-- model_name = "known processor with this name; NULL if there is none"
-- vendor_name = "VARCHAR: vendor of its events: of its architecture (Arm for an Arm core of any
-- maker), else from the user, else of the known processor"
-- architecture_name = "VARCHAR: e.g. skylake-server; from the user, else of the known processor"
-- core_count = "BIGINT: cores of all its sockets; from the user, else of the known processor"
-- ignored_name = "VARCHAR: device that the user named, if it is no processor"
with
    said as (
        select
            run_id,
            source_id,
            any_value(name) filter (where assumption_kind = 'device') as device_name,
            any_value(name) filter (where assumption_kind = 'vendor') as vendor_name,
            any_value(name) filter (where assumption_kind = 'architecture') as architecture_name,
            try_cast(
                any_value(value) filter (where assumption_kind = 'core_count') as bigint
            ) as core_count
        from assumption
        group by run_id, source_id
    )
select distinct
    measurement.run_id,
    measurement.source_id,
    case when other_model.model_name is null then said.device_name end as device_name,
    device_model.model_name,
    coalesce(cpu_family.vendor_name, said.vendor_name, device_model.vendor_name) as vendor_name,
    coalesce(said.architecture_name, device_model.architecture_name) as architecture_name,
    coalesce(said.core_count, device_model.core_count) as core_count,
    case when other_model.model_name is not null then said.device_name end as ignored_name
from measurement
left join said using (run_id, source_id)
left join
    device_model
    on device_model.model_key = device_key(said.device_name)
    and device_model.core_count is not null
left join
    device_model as other_model
    on other_model.model_key = device_key(said.device_name)
    and other_model.core_count is null
    and said.core_count is null
-- one row per set of the family
left join
    cpu_family
    on cpu_family.architecture_name
    = coalesce(said.architecture_name, device_model.architecture_name)
