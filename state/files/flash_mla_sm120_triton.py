"""Split-KV decode attention for MLA on SM120, patched for small batches.

The number of CTAs to aim for is a knob of the node; the launch shape was tuned for it and is fixed here.
"""

import os

TARGET_CTAS = int(os.environ.get("SGLANG_SM120_MMA_TARGET_CTAS", "256"))
MULTI_STREAM_OVERLAP = os.environ.get("SGLANG_OPT_USE_MULTI_STREAM_OVERLAP", "1") == "1"

BLOCK_N = 64
BLOCK_H = 16
NUM_WARPS = 4
NUM_STAGES = 2
MAX_SPLITS = 32


def kv_splits(batch: int, heads: int, longest: int) -> int:
    """Into how many parts to split the keys and values so that about TARGET_CTAS blocks run at once."""
    tiles = batch * -(-heads // BLOCK_H)
    wanted = -(-TARGET_CTAS // tiles)
    possible = -(-longest // BLOCK_N)
    return max(1, min(wanted, possible, MAX_SPLITS))


def launch_shape(batch: int, heads: int, longest: int) -> dict:
    """Grid and launch options of the decode kernel for one batch."""
    splits = kv_splits(batch, heads, longest)
    return {
        "grid": (batch, -(-heads // BLOCK_H), splits),
        "num_warps": NUM_WARPS,
        "num_stages": NUM_STAGES,
        "second_stream": MULTI_STREAM_OVERLAP and splits > 1,
    }
