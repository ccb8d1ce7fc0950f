from pathlib import Path

HERE = Path(__file__).parent  # no group

decode = (
    ["decode-02", ("decode-01", {"gpu": 1, "ssh_port": 2201})],
    {"ssh_user": "root", "gpu": 0},
)
canary = ["decode-01"]
prefill = [("prefill-01", {"ssh_hostname": "10.0.0.9"})]
_private = ["not-a-host"]
