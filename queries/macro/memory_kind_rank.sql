-- purpose = "Position of a memory kind in tables and figures, from 1; NULL if it is not a kind."
-- source = "docs/metrics.md, section Memory by kind"
-- parameters = "kind"
-- kind = "VARCHAR: memory kind"
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
