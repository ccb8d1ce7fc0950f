"""Manifests: YAML with positions → Desired, with every mistake told at its place; and writing them."""

from __future__ import annotations

from knowngood.manifest.claims import check_claims
from knowngood.manifest.diagnostic import Diagnostic, ManifestError
from knowngood.manifest.hashes import WrittenHash, write_hashes
from knowngood.manifest.load import Manifest, load_manifests
from knowngood.manifest.schema import schema_text
from knowngood.manifest.write import Block, Blocks, Line, Note, can_hold, write_manifest

__all__ = [
    "Block",
    "Blocks",
    "Diagnostic",
    "Line",
    "Manifest",
    "ManifestError",
    "Note",
    "WrittenHash",
    "can_hold",
    "check_claims",
    "load_manifests",
    "schema_text",
    "write_hashes",
    "write_manifest",
]
