"""The flags of SGLang's launch_server that a decode node may use; an unknown one is argparse's error."""

import argparse

_BARE = """
--trust-remote-code --disable-overlap-schedule --enable-mixed-chunk --disable-cuda-graph
--disable-radix-cache --disable-custom-all-reduce --enable-metrics --enable-dp-attention
--enable-torch-compile --skip-server-warmup --log-requests
"""
_WORDS = """
--served-model-name --tokenizer-path --load-format --dtype --quantization --kv-cache-dtype --device
--attention-backend --sampling-backend --schedule-policy --log-level --api-key --chat-template
--tool-call-parser --reasoning-parser --json-model-override-args --speculative-algorithm
--speculative-draft-model-path --disaggregation-mode --disaggregation-transfer-backend
--disaggregation-ib-device --moe-a2a-backend --deepep-mode
"""
_INTEGERS = """
--context-length --max-running-requests --max-total-tokens --chunked-prefill-size --max-prefill-tokens
--cuda-graph-max-bs --page-size --random-seed --stream-interval --speculative-num-steps
--speculative-eagle-topk --speculative-num-draft-tokens --num-continuous-decode-steps
"""


def parse():
    """The flags of this process. As the real one, it exits with status 2 and a usage text on a mistake."""
    parser = argparse.ArgumentParser(prog="launch_server.py")
    parser.add_argument("--model-path", "--model", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=30000)
    parser.add_argument("--tensor-parallel-size", "--tp-size", "--tp", dest="tp_size", type=int, default=1)
    parser.add_argument("--data-parallel-size", "--dp-size", "--dp", dest="dp_size", type=int, default=1)
    parser.add_argument("--expert-parallel-size", "--ep-size", "--ep", dest="ep_size", type=int, default=1)
    parser.add_argument("--pipeline-parallel-size", "--pp-size", dest="pp_size", type=int, default=1)
    parser.add_argument("--dist-init-addr", "--nccl-init-addr")
    parser.add_argument("--nnodes", type=int, default=1)
    parser.add_argument("--node-rank", type=int, default=0)
    parser.add_argument("--mem-fraction-static", type=float)
    parser.add_argument("--schedule-conservativeness", type=float, default=1.0)
    parser.add_argument("--watchdog-timeout", type=float, default=300)
    parser.add_argument("--cuda-graph-bs", type=int, nargs="+")
    for flag in _BARE.split():
        parser.add_argument(flag, action="store_true")
    for flag in _WORDS.split():
        parser.add_argument(flag)
    for flag in _INTEGERS.split():
        parser.add_argument(flag, type=int)
    return parser.parse_args()
