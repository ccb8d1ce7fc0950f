"""Stands in for a decode server: loads the kernels beside it, starts four children, and waits to be audited."""

import importlib.util
import multiprocessing
import signal
from pathlib import Path


def load_kernels() -> None:
    for path in sorted(Path(__file__).with_name("kernels").glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def scheduler() -> None:
    load_kernels()
    signal.pause()


if __name__ == "__main__":
    load_kernels()
    for _ in range(4):
        multiprocessing.get_context("spawn").Process(target=scheduler, daemon=True).start()
    signal.pause()
