"""The figures that every summary of an evaluation has, whichever way it is asked for."""

PROMISED = (
    "suite",
    "questions",
    "recall_at_1",
    "recall_at_5",
    "recall_at_10",
    "hit_at_10",
    "mrr",
    "ndcg_at_10",
    "gold_in_1300_tokens",
    "abstention_auroc",
    "search_p50_ms",
    "search_p95_ms",
    "embed_p50_ms",
)
