-- purpose = "Whether kernels move data between devices by plain words of their names; NULL where
-- a name or category leaves it open."
select
    source_id,
    event_id,
    collective_name,
    category_name,
    case
        when
            category_name is not null
            or regexp_matches(
                name, '(?i)(warp|block|group)_?all_?reduce|^triton_.*(all|reduce_?scatter)'
            )
        then null
        when
            collective_name is not null
            or regexp_matches(
                coalesce(name, ''),
                '(?i)nccl|rccl[^r]|all_?(reduce|gather)|reduce_?scatter|all_?to_?all'
            )
        then true
        when
            regexp_matches(
                coalesce(name, ''),
                '(?i)ccl|all.?reduce|shmem|symm_?mem|multimem|cross_device|node|notify|a2a|dispatch'
                || '|combine|userbuffers|psum|ppermute|send|recv|collective'
            )
        then null
        else false
    end as is_collective
from kernel
where run_id = $run_id
