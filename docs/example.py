# %% [markdown]
# # A trace in a notebook
#
# What a notebook shows of a recorded LSTM training: the runs, what to fix first, its kernels, a
# question of your own in SQL, a roofline. Run it from the root of the repository, or put the names
# of your own files in place of these. `pip install` tracekit and Jupyter first.

# %%
import tempfile

import tracekit

store_path = f"{tempfile.mkdtemp()}/S"
tracekit.ingest(["fixtures/h100/lstm/trace.json.gz"], store_path, run_name="lstm")
tracekit.ingest(["fixtures/h100/lstm/raw.csv.gz"], store_path, run_name="counted")
store = tracekit.open(store_path)
store.runs()

# %% [markdown]
# ## What to fix first
#
# One row per finding, the most time to win first. `win_ns` is the time to win at most.

# %%
store.advise("lstm").df()[["title", "win_ns", "win_ratio"]].head(3)

# %% [markdown]
# ## Kernels
#
# The counters come from a second run of the same program: `join` gives each launch of the timeline
# its counters. The tooltip of a column says what it is.

# %%
store.join("lstm", "counted")
store.kernels("lstm", top=5)

# %% [markdown]
# ## Your own question
#
# Any `SELECT` about the tables in [tables.md](tables.md). A result goes to pandas (`.df()`), Arrow
# (`.arrow()`), or polars (`polars.DataFrame(result)`).

# %%
store.sql(
    """
    SELECT stream_id, count(*) AS kernel_count, sum(dur_ns) AS total_ns
    FROM kernel WHERE run_id = 'lstm' GROUP BY ALL ORDER BY total_ns DESC
    """
)

# %% [markdown]
# ## A roofline

# %%
store.roofline("lstm", model="hierarchical", top=4)
