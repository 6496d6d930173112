"""Messages of the tools' dumps, with the numbers of their fields.

Source: plugin/xprof/protobuf of github.com/openxla/xprof; the tests compare them with it.
"""

from __future__ import annotations

from tracekit.reading.protowire import WireMessage, schema
from tracekit.reading.words import words

MESSAGES = schema(
    """
Any
    1 type_url text
    2 value span
Diagnostics
    1 info text*
    2 warnings text*
    3 errors text*

# kernel_stats.pb
KernelReport
    1 name text
    2 registers_per_thread uint
    3 static_shmem_bytes uint
    4 dynamic_shmem_bytes uint
    5 block_dim uint*
    6 grid_dim uint*
    7 total_duration_ns uint
    8 min_duration_ns uint
    9 max_duration_ns uint
    10 is_kernel_using_tensor_core bool
    11 is_op_tensor_core_eligible bool
    12 op_name text
    13 occurrences uint
    14 occupancy_pct float
KernelStatsDb
    1 reports KernelReport*

# tensorflow_stats.pb
TfStatsRecord
    1 rank uint
    2 host_or_device text
    3 op_type text
    4 op_name text
    5 occurrences int
    6 total_time_in_us double
    7 avg_time_in_us double
    8 total_self_time_in_us double
    9 avg_self_time_in_us double
    10 device_total_self_time_as_fraction double
    11 device_cumulative_total_self_time_as_fraction double
    12 host_total_self_time_as_fraction double
    13 host_cumulative_total_self_time_as_fraction double
    14 measured_flop_rate double
    15 measured_memory_bw double
    16 operational_intensity double
    17 bound_by text
    18 is_eager bool
    19 gpu_tensorcore_utilization double
    20 model_flop_rate double
    21 hbm_bw double
    22 cmem_read_bw double
    23 cmem_write_bw double
    24 vmem_read_bw double
    25 vmem_write_bw double
    26 hbm_operational_intensity double
    27 cmem_read_operational_intensity double
    28 cmem_write_operational_intensity double
    29 vmem_read_operational_intensity double
    30 vmem_write_operational_intensity double
    31 bottleneck_operational_intensity double
    32 flops uint
    33 bytes_accessed uint
    34 flops_v2 double
TfStatsTable
    1 tf_stats_record TfStatsRecord*
    2 host_tf_pprof_key text
    3 device_tf_pprof_key text
TfStatsDatabase
    4 with_idle TfStatsTable
    5 without_idle TfStatsTable
    6 device_type text

# input_pipeline.pb
StepSummary
    1 average double
    2 standard_deviation double
    3 minimum double
    4 maximum double
InputTimeBreakdown
    1 demanded_file_read_us double
    2 advanced_file_read_us double
    3 preprocessing_us double
    4 enqueue_us double
    5 unclassified_non_enqueue_us double
InputOpDetails
    1 op_name text
    2 count uint
    3 time_in_ms double
    4 time_in_percent double
    5 self_time_in_ms double
    6 self_time_in_percent double
    7 category text
InputPipelineAnalysisRecommendation
    1 details text*
    2 bottleneck_analysis Any
    3 summary_next_step text
InputPipelineAnalysisResult
    2 step_time_summary StepSummary
    3 input_percent_summary StepSummary
    4 step_details Any*
    5 input_time_breakdown InputTimeBreakdown
    6 input_op_details InputOpDetails*
    7 recommendation InputPipelineAnalysisRecommendation
    8 step_time_breakdown Any
    9 hardware_type text
    11 input_percent double
    12 diagnostics Diagnostics
    13 output_percent double
    14 idle_percent double
    15 compute_percent double
    16 tag bool
PerGenericStepDetails
    1 step_number int
    2 step_time_ms double
    3 unknown_time_ms double
    4 infeed_ms double  # of early versions; later 11 and 12
    5 output_ms double
    6 device_compute_ms double
    7 device_to_device_ms double
    8 host_compute_ms double
    9 host_prepare_ms double
    10 host_compile_ms double
    11 host_wait_input_ms double
    12 host_to_device_ms double
    13 device_collectives_ms double
    14 step_name text
PerTpuStepDetails
    1 step_number int
    3 tc_infeed_time_ms double
    4 infeed_percent_average double
    5 infeed_percent_minimum double
    6 infeed_percent_maximum double
    7 coreid_max_infeed_time uint
    11 all_reduce_compute_time_ms double
    12 all_reduce_sync_time_ms double
    13 tc_compute_time_ms double
    14 tc_idle_time_ms double
    15 tc_outfeed_time_ms double
    16 scv0_compute_time_ms double
    17 scv0_infeed_time_ms double
    18 host_transfer_ms double
    20 sc_compute_time_ms double
    21 sc_idle_time_ms double
    22 sc_outfeed_time_ms double
    23 sc_infeed_time_ms double
    24 sc_step_time_ms double
    25 max_infeed_time_core_name text
    26 tc_active_time_ms double
    27 sc_active_time_ms double
    28 active_step_time_ms double
GenericStepTimeBreakdown
    1 unknown_time_ms_summary StepSummary
    3 output_ms_summary StepSummary
    4 device_compute_ms_summary StepSummary
    5 device_to_device_ms_summary StepSummary
    6 host_compute_ms_summary StepSummary
    7 host_prepare_ms_summary StepSummary
    8 host_compile_ms_summary StepSummary
    9 host_wait_input_ms_summary StepSummary
    10 host_to_device_ms_summary StepSummary
    11 input_ms_summary StepSummary
    12 device_collectives_ms_summary StepSummary
SparseCoreStepSummary
    1 sc_compute_ms_summary StepSummary
    2 sc_infeed_ms_summary StepSummary
    3 sc_outfeed_ms_summary StepSummary
    4 sc_idle_ms_summary StepSummary
    5 sc_step_time_ms_summary StepSummary
    6 sc_active_ms_summary StepSummary
TpuStepTimeBreakdown
    1 tc_compute_ms_summary StepSummary
    2 scv0_compute_ms_summary StepSummary
    3 tc_infeed_ms_summary StepSummary
    4 scv0_infeed_ms_summary StepSummary
    5 tc_idle_ms_summary StepSummary
    6 tc_outfeed_ms_summary StepSummary
    7 host_transfer_ms_summary StepSummary
    8 sparse_core_step_summary SparseCoreStepSummary
    9 tc_active_ms_summary StepSummary
    10 active_step_time_ms_summary StepSummary
BottleneckAnalysis
    1 input_classification text
    2 input_statement text
    3 kernel_launch_classification text
    4 kernel_launch_statement text
    5 all_other_classification text
    6 all_other_statement text
    7 input_percent double
    8 output_percent double
    9 idle_percent double
    10 compute_percent double
    11 device_collectives_classification text
    12 device_collectives_statement text
TpuBottleneckAnalysis
    1 input_classification text
    2 input_statement text
    3 tc_idle_classification text
    4 tc_idle_statement text
    5 scv0_classification text
    6 scv0_statement text
    7 all_reduce_classification text
    8 all_reduce_statement text
    9 output_classification text
    10 output_statement text
    11 input_percent double
    12 output_percent double
    13 tc_idle_percent double
    14 compute_percent double

# overview_page.pb
OverviewTfOp
    1 name text
    2 category text
    3 self_time_fraction double
    4 cumulative_time_fraction double
    5 flop_rate double
    6 is_op_tensorcore_eligible bool
    7 is_op_using_tensorcore bool
OverviewPageAnalysis
    1 mxu_utilization_percent double
    2 device_idle_time_percent double
    3 host_idle_time_percent double
    4 top_device_ops OverviewTfOp*
    5 remark_text text
    6 remark_color text
    7 flop_rate_utilization_relative_to_roofline_percent double
    8 memory_bw_utilization_relative_to_hw_limit_percent double
    9 device_compute_16bit_percent double
    10 device_compute_32bit_percent double
    11 host_tf_op_percent double
    12 device_tf_op_percent double
    13 host_trace_level uint
    14 host_op_time_eager_percent double
    15 device_op_time_eager_percent double
    16 device_op_time_outside_compilation_percent double
    17 device_duty_cycle_percent double
    18 program_goodput_percent double
    19 sc_step_time_ms_average double
    20 sc_infeed_time_ms_avg double
    21 sc_outfeed_time_ms_avg double
    22 sc_idle_time_ms_avg double
    23 fw_max_vdd_core_pl1_power_watts double
    24 fw_max_vdd_core_pl2_power_watts double
    25 fw_max_vdd_core_pl3_power_watts double
    26 fw_max_vdd_core_pl4_power_watts double
    27 fw_max_hbm_pl1_power_watts double
    28 fw_max_hbm_pl2_power_watts double
    29 fw_max_hbm_pl3_power_watts double
    30 fw_max_hbm_pl4_power_watts double
    31 hbm_utilization_percent double
    61 program_goodput_high_confidence_percent double
    62 device_duty_cycle_high_confidence_percent double
    63 has_program_goodput bool
    64 idle_time_high_confidence_ps double
    65 active_step_time_ms_average double
    66 tc_active_time_ms_average double
    67 sc_active_time_ms_average double
OverviewPageTip
    1 link text
GenericRecommendation
    1 kernel_launch_bottleneck text
    2 kernel_launch_statement text
    3 all_other_bottleneck text
    4 all_other_statement text
    5 precision_statement text
    6 device_collectives_bottleneck text
    7 device_collectives_statement text
OverviewPageRecommendation
    1 bottleneck text
    2 statement text
    3 host_tips OverviewPageTip*
    4 device_tips OverviewPageTip*
    5 documentation_tips OverviewPageTip*
    6 recommendation Any
    7 faq_tips OverviewPageTip*
    8 inference_tips OverviewPageTip*
    9 output_statement text
    10 tf_function_statement_html text
    11 input_tips OverviewPageTip*
    12 eager_statement_html text
    13 outside_compilation_statement_html text
OverviewPageHostIndependentJobInfo
    1 change_list int
    2 build_time int
    3 build_target text
    4 profile_duration_ms uint
    5 workspace_id text
    6 snapshot int
OverviewPageHostDependentJobInfo
    1 host_id text
    2 command_line text
    3 start_time int
    4 bns_address text
    5 profile_time_ns uint
HostnamesEntry
    1 key text
    2 value bool
PowerComponentMetrics
    1 component_name text
    2 max_power double
    3 avg_power double
    4 max_moving_avg_power_100us double
    5 max_moving_avg_power_1ms double
    6 max_moving_avg_power_10ms double
    7 timescale_us uint
    8 sample_count uint
    9 max_moving_avg_power_1s double
PowerMetrics
    1 power_component_metrics PowerComponentMetrics*
OverviewPageRunEnvironment
    1 host_count int
    2 task_count int
    3 hostnames HostnamesEntry*
    4 device_type text
    5 device_core_count int
    7 host_independent_job_info OverviewPageHostIndependentJobInfo
    8 host_dependent_job_info OverviewPageHostDependentJobInfo*
    9 replica_count int
    10 num_cores_per_replica int
    11 is_training bool
    12 power_metrics PowerMetrics
OverviewLatencyBreakdown
    1 total_latency_us double
    2 host_latency_us double
    3 device_latency_us double
    4 communication_latency_us double
OverviewInferenceLatency
    1 percentile_numbers double*
    2 latency_breakdowns OverviewLatencyBreakdown*
    3 max_latency_us double
    4 min_latency_us double
    5 sessions_per_second double
DistributionStats
    1 avg double
    2 p50 double
    3 p90 double
    4 p95 double
    5 p99 double
DisaggregatedServingLatency
    1 prefill_step_time_us DistributionStats
    2 num_prefill_steps int
    3 decode_step_time_us DistributionStats
    4 num_decode_steps int
OverviewPage
    2 input_analysis InputPipelineAnalysisResult
    3 analysis OverviewPageAnalysis
    4 recommendation OverviewPageRecommendation
    6 run_environment OverviewPageRunEnvironment
    8 diagnostics Diagnostics
    9 inference_latency OverviewInferenceLatency
    10 disaggregated_serving_latency DisaggregatedServingLatency
"""
)
KERNEL_STATS = MESSAGES["KernelStatsDb"]
TENSORFLOW_STATS = MESSAGES["TfStatsDatabase"]
INPUT_PIPELINE = MESSAGES["InputPipelineAnalysisResult"]
GENERIC_STEP = MESSAGES["PerGenericStepDetails"]
TPU_STEP = MESSAGES["PerTpuStepDetails"]
OVERVIEW_PAGE = MESSAGES["OverviewPage"]

#: What a `google.protobuf.Any` of these dumps can hold.
_IN_ANY = words(
    """
    PerGenericStepDetails PerTpuStepDetails GenericStepTimeBreakdown TpuStepTimeBreakdown
    BottleneckAnalysis TpuBottleneckAnalysis GenericRecommendation
    """
)


def kind_in_any(type_url: str) -> WireMessage | None:
    """Return the message type of an Any with this type_url; None if it is another one."""
    package, _, name = type_url.rpartition("/")[2].rpartition(".")
    return MESSAGES[name] if package == "tensorflow.profiler" and name in _IN_ANY else None
