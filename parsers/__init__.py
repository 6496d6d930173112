"""The formats that tracekit reads, each a module or a package.

Built-in formats are listed here; those of installed packages have an entry point.
"""

from importlib.metadata import EntryPoint

GROUP = "tracekit.parsers"

#: Built-in formats, in the order of `tracekit formats`.
BUILT_IN = tuple(
    EntryPoint(name, f"tracekit.parsers.{where}", GROUP)
    for name, where in (
        ("torch-profiler", "torch_profiler:TorchProfilerParser"),
        ("nsight-compute", "nsight_compute:NsightComputeParser"),
        ("nvprof", "nvprof:NvprofParser"),
        ("tensorflow-profiler", "tensorflow_profiler:TensorflowProfilerParser"),
        ("perf-stat", "perf_stat:PerfStatParser"),
        ("caffe-time", "caffe_time:CaffeTimeParser"),
        ("tensorflow-tools", "tensorflow_tools:TensorflowToolsParser"),
        ("tensorflow-trace", "tensorflow_trace:TensorflowTraceParser"),
        ("tensorflow-timeline", "tensorflow_timeline:TensorflowTimelineParser"),
        ("google-benchmark", "google_benchmark:GoogleBenchmarkParser"),
        ("pytest-benchmark", "pytest_benchmark:PytestBenchmarkParser"),
        ("hyperfine", "hyperfine:HyperfineParser"),
        ("mlperf", "mlperf:MlperfParser"),
        ("results-table", "results_table:ResultsTableParser"),
    )
)
