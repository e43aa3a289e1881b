"""Blank faces: which places that show nothing are of the same material as the faces around them.

A blank face is as bright and of the same hue as the rims of the faces beside it, under the same light; cloth
and wood are not, and nothing is where the photo ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.classify import CROP, QUAD, Pyramid, rectify
from vision.rows import Floats

RIM = 0.1
"""Width of the rim of a face that bears no drawing, in widths of the face."""
BRIGHTER, TINTED = 0.05, 0.02
"""How far the logarithms of brightness and of a single colour channel may differ between faces of one set."""
NEAREST = 2
"""So many of the nearest faces are compared; one alike does, for others may lie in a shadow."""
OUTSIDE = 0.1
"""How far a face may reach past the edge of the photo, in widths of itself."""
DARKEST = 4.0
"""Below this value colours tell nothing."""


def find_bare(image: np.ndarray, quads: Floats, faces: Floats) -> NDArray[np.bool_]:
    """Which places (n,), at quads (n, 4, 2) in a photo (height, width, 3) uint8 BGR, look as the rims of the
    nearest of these faces (m, 4, 2) do.
    """
    found = np.zeros(len(quads), bool)
    if not len(faces):
        return found
    size = np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1)[:, None, None]
    beyond = np.maximum(-quads, quads - np.array(image.shape[1::-1])) > OUTSIDE * size
    pyramid = Pyramid(image)
    for k in np.flatnonzero(~beyond.any((1, 2))):
        near = np.argsort(np.linalg.norm(faces.mean(1) - quads[k].mean(0), axis=1))[:NEAREST]
        place, *others = _rims(pyramid, np.concatenate([quads[k : k + 1], faces[near]]))
        away = np.array(others) - place
        tint = np.abs(away - away.mean(1, keepdims=True)).max(1)
        found[k] = ((np.abs(away.mean(1)) < BRIGHTER) & (tint < TINTED)).any()
    return found


def _rims(pyramid: Pyramid, quads: Floats) -> Floats:
    """Logarithms (n, 3) of the usual colours of the rims of faces."""
    crops, _ = rectify(pyramid, quads.astype(np.float32))
    start, width = (CROP - QUAD) // 2 + 3, round(RIM * QUAD)
    rim = np.zeros((CROP, CROP), bool)
    rim[start:-start, start:-start] = True
    rim[start + width : -start - width, start + width : -start - width] = False
    return np.log(np.maximum(np.median(crops[:, rim].astype(np.float64), axis=1), DARKEST))
