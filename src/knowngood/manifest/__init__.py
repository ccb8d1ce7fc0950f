"""Manifests: YAML with positions → Desired, with every mistake told at its place; and writing them."""

from __future__ import annotations

from knowngood.manifest.claims import check_claims
from knowngood.manifest.diagnostic import Diagnostic, ManifestError
from knowngood.manifest.hashes import WrittenHash, write_hashes
from knowngood.manifest.load import Manifest, load_manifests

__all__ = [
    "Diagnostic",
    "Manifest",
    "ManifestError",
    "WrittenHash",
    "check_claims",
    "load_manifests",
    "write_hashes",
]
