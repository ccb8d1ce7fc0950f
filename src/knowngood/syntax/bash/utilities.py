"""Which commands are no launches: what bash does itself, and programs that do a chore and end.

Everything else that a script runs counts as a launch. Being on this list never makes a value known: it only
keeps `mkdir` and `echo` out of a list of servers.
"""

from __future__ import annotations

from collections.abc import Sequence

_UTILITY_NAMES = """
[ awk base64 basename bc blkid bzip2 cat chgrp chmod chown cksum clear cmp column comm cp cpupower curl
cut date dd df diff dig dirname dmesg dmidecode du echo egrep expr false fgrep file find flock free fuser
fusermount gawk getconf getent git git-lfs grep groups gunzip gzip head hostname hostnamectl id ifconfig
install ip ipcrm ipcs iptables join jq kill killall last ldconfig ldd less link ln locale logger logname
logrotate ls lsb_release lscpu lshw lsmod lsof lspci md5sum mkdir mkfifo mknod mktemp modprobe more mount
mv nc netstat nl nmap nproc nslookup numfmt nvidia-smi nvcc od openssl passwd paste pgrep ping pkill
printenv printf ps pstree pwd readlink realpath renice reset rev rm rmdir rocm-smi rocminfo rsync scp
screen sed seq sha1sum sha256sum sha512sum shuf shutdown sleep sort split ss ssh-add ssh-keygen stat stty
sum swapoff swapon sync sysctl systemctl journalctl tac tail tar tee test top touch tput tr tree true
truncate tsort tty udevadm umount uname uniq unlink unzip uptime useradd usermod users vmstat w watch wc
wget whereis which who whoami xargs xz yes yq zcat zip zstd apt apt-get aptitude brew dnf dpkg yum pip
pip3 pipx poetry npm npx make cmake ninja gcc g++ cc clang cargo rustc go conda mamba micromamba module
spack virtualenv huggingface-cli hf modelscope aws gsutil gcloud az s3cmd rclone kubectl helm
podman-compose docker-compose nvidia-ctk nvidia-cuda-mps-control nvidia-persistenced ibstat ibv_devinfo
ibdev2netdev sinfo squeue scontrol sacct scancel crontab at loginctl timedatectl localectl sysctl ethtool
tc ufw nvme lsblk fdisk mkfs parted hdparm smartctl rdma nvtop htop tmux reboot poweroff halt
"""
UTILITIES = frozenset(_UTILITY_NAMES.split())

# Subcommands that leave something running, of programs that otherwise do chores.
_DOCKER_WORDS = """
build buildx commit compose cp create diff events export history image images import info inspect kill
load login logout logs manifest network pause plugin port ps pull push rename restart rm rmi save search
secret stats stop swarm system tag top unpause update version volume wait
"""
_DOCKER_CHORES = frozenset(_DOCKER_WORDS.split())

# Programs that serve, launch or talk to models, by the names that they are called by.
_PROGRAM_NAMES = """
vllm sglang llama-server llama-cli text-generation-launcher trtllm-serve tritonserver lmdeploy ollama
torchrun accelerate deepspeed ray gunicorn uvicorn node java docker podman nerdctl server bash sh
"""
PROGRAMS = frozenset(_PROGRAM_NAMES.split())


def is_chore(words: Sequence[str | None]) -> bool:
    """Whether a command, given by its words as far as they are known, is no launch."""
    name = (words[0] or "").rsplit("/", 1)[-1] if words else ""
    rest = [word for word in words[1:] if word is not None]
    if name in UTILITIES:
        return True
    if name in ("docker", "podman", "nerdctl"):
        return not rest or rest[0] in _DOCKER_CHORES or rest[0].startswith("-")
    if name.startswith("python") or name == "pypy3":
        return _python_chore(words[1:])
    if name in ("uv", "pixi", "pdm", "hatch"):
        return "run" not in rest[:1]
    if name == "ray":
        return "--block" not in rest
    return not name and not words


def is_program(name: str) -> bool:
    """Whether a name is that of a well-known program, and no function of somebody's own."""
    return name in UTILITIES or name in PROGRAMS or name.startswith("python")


def _python_chore(rest: Sequence[str | None]) -> bool:
    """`python -c …`, `python -` and the tools that come with Python."""
    for at, word in enumerate(rest):
        if word is None:
            return False
        if word in ("-c", "-", "--version", "-V"):
            return True
        if word == "-m":
            module = rest[at + 1] if at + 1 < len(rest) else None
            return module in (
                "pip",
                "venv",
                "ensurepip",
                "site",
                "json.tool",
                "compileall",
                "virtualenv",
                "zipfile",
            )
        if not word.startswith("-"):
            return False
    return not rest
