"""Desired × Observation → Findings. Pure: no sockets, no files, no screen."""
