"""The ONNX models of `models/`, opened with their manifests.

A manifest `<name>.json` beside `<name>.onnx` says what the model takes and gives, its labels, its
calibration, how it was made and what it reaches.
"""

from __future__ import annotations

import functools
import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime


class ModelError(RuntimeError):
    """A model file is missing or is not the one its manifest describes."""


class Model:
    """One ONNX model and its manifest. Safe to use from several threads."""

    def __init__(self, data: bytes, manifest: dict[str, Any], threads: int = 2):
        self.manifest = manifest
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Spinning threads would take the cores from the web server and from other readings.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0].name

    def run(self, batch: np.ndarray) -> list[np.ndarray]:
        """All outputs for one batch; shapes as the manifest says."""
        return list(self._session.run(None, {self._input: batch}))


@functools.cache
def open_model(name: str, folder: Path | None = None) -> Model:
    """The model `name` of a folder, or of the installed package `models`.

    Raises ModelError when it is missing or altered.
    """
    place = resources.files("models") if folder is None else folder
    try:
        manifest = json.loads((place / f"{name}.json").read_text(encoding="utf-8"))
        data = (place / f"{name}.onnx").read_bytes()
    except FileNotFoundError as missing:
        where = "the installation" if folder is None else folder
        raise ModelError(f"model {name} is missing from {where}: {missing.filename}") from missing
    if hashlib.sha256(data).hexdigest() != manifest["sha256"]:
        raise ModelError(f"model {name}.onnx is not the one its manifest describes: install again")
    return Model(data, manifest)
