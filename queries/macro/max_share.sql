-- purpose = "Share of a peak up to which a rate can be right: clocks can be above those of the
-- data sheet."
-- source = "docs/metrics.md, section Above the peak"
1.05
