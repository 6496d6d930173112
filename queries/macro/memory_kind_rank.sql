-- purpose = "Place of a kind of memory in tables and figures, from 1; NULL of what is none."
-- source = "docs/metrics.md, section Memory by kind"
-- parameters = "kind"
-- kind = "VARCHAR: kind of memory"
list_position(
    [
        'weights',
        'weight_gradients',
        'optimizer_state',
        'feature_maps',
        'workspace',
        'temporary',
        'input',
        'other',
        'unknown',
        'unseen'
    ],
    kind
)
