"""What lines of ncu and nvprof carry nothing, for `tests.parsers.test_line_accounts`."""

from __future__ import annotations

from tests.parsers.line_accounts import Rule

NSIGHT_COMPUTE = (
    Rule("the end of a process, whose begin is told", r"^==PROF== Disconnected from process \d+$"),
    Rule(
        "progress while it profiles: the launch has its own row",
        r"^==PROF== Profiling .*$",
        frozenset(("flip", "cut", "unfield")),
    ),
    Rule(
        "a process or section that comes again says the same",
        r"^(?: {4}Section: .*|\[\d+\] \S+@\S+)$",
        frozenset(("double",)),
    ),
    Rule(
        "a header that comes again says the same", r'^"ID","Process ID",.*$', frozenset(("double",))
    ),
    Rule(
        "titles and lines of a table of text",
        r"^ {4}(?:Metric Name +Metric Unit +Metric Value|[- ]+)$",
    ),
)
NVPROF = (
    Rule(
        "a process is named twice, and its metrics say that they were replayed",
        r"^==\d+== (?:NVPROF is profiling process|Profiling application|Some kernel).*$",
        frozenset(("drop", "double")),
    ),
    Rule(
        "a title says what the header below says",
        r"^(?:==\d+==|={8}) [A-Z].*:\r?$",
        frozenset(("drop", "double", "garbage", "cut", "unfield")),
    ),
    Rule(
        "that kernels are replayed is a remark",
        r"^==\d+== Some kernel.*$",
        frozenset(("cut", "join")),
    ),
    Rule("a row that ends before a title is whole", r'^".*,\d+$', frozenset(("join",))),
    Rule(
        "a header, device or kernel that comes again says the same",
        r'^ *(?:"?(?:Start|Device|Time\(%\)|Type|Invocations|Count)"?[ ,]|Kernel:).*$',
        frozenset(("double",)),
    ),
    Rule("footnotes", r"^(?:Regs|SSMem|DSMem|SrcMemType|DstMemType): .*$"),
    Rule(
        "the share follows from the times",
        r"^ *(?:[A-Z][A-Za-z ]+: +)?[\d.]+%",
        frozenset(("flip",)),
    ),
    Rule(
        "the mean of copies and sets follows from their time and number, which are kept",
        r'[\d.]+(?:[mun]?s)?(?=(?:(?:,| +)[\d.]+(?:[mun]?s)?){2}(?:,| +)"?\[CUDA mem)',
        frozenset(("flip",)),
    ),
    Rule("a carriage return ends a line too", r"^.*\r$", frozenset(("join",))),
)
