"""What light, lens, sensor and JPEG do to a picture, be it a rendered scene or a crop of one tile."""

from __future__ import annotations

import cv2
import numpy as np


def relight(image: np.ndarray, rng: np.random.Generator, strength: float = 1.0) -> np.ndarray:
    """Colour cast, exposure, gradients, soft shadows and glare on (height, width, 3) float32 BGR 0-255."""
    height, width = image.shape[:2]
    warm = rng.normal(0, 0.10 * strength)
    cast = np.array([1 - warm, 1 + rng.normal(0, 0.03 * strength), 1 + warm], np.float32)
    image = image * cast * float(np.exp(rng.normal(-0.08, 0.25 * strength)))
    grid_y, grid_x = np.mgrid[0:height, 0:width].astype(np.float32)
    grid_x, grid_y = grid_x / width - 0.5, grid_y / height - 0.5
    if rng.random() < 0.7:
        slope = rng.normal(0, 0.35 * strength, 2)
        image = image * np.clip(1 + slope[0] * grid_x + slope[1] * grid_y, 0.25, 2)[..., None]
    if rng.random() < 0.35:
        # The soft shadow of a head or phone: a half-plane with a wide edge.
        turn = rng.uniform(0, 2 * np.pi)
        distance = grid_x * np.cos(turn) + grid_y * np.sin(turn) - rng.uniform(-0.3, 0.3)
        edge = 1 / (1 + np.exp(-distance / rng.uniform(0.004, 0.12)))
        image = image * (1 - rng.uniform(0.15, 0.6) * edge)[..., None]
    if rng.random() < 0.3:
        glow = np.zeros((height, width), np.float32)
        for _ in range(int(rng.integers(1, 4))):
            centre, radius = rng.uniform(-0.5, 0.5, 2), rng.uniform(0.02, 0.2)
            glow += np.exp(
                -((grid_x - centre[0]) ** 2 + (grid_y - centre[1]) ** 2) / (2 * radius**2)
            ) * rng.uniform(40, 200)
        image = image + glow[..., None]
    if rng.random() < 0.3:
        image = 255 * np.power(np.clip(image, 0, 255) / 255, float(np.exp(rng.normal(0, 0.25))))
    return image


def photograph(image: np.ndarray, rng: np.random.Generator, sharpest: float = 0.45) -> np.ndarray:
    """A rendered picture (uint8 BGR) as a phone or webcam would have kept it; same size."""
    height, width = image.shape[:2]
    out = relight(image.astype(np.float32), rng)
    blur = rng.random()
    if blur < 0.5:
        out = cv2.GaussianBlur(out, (0, 0), rng.uniform(0.3, 1.6))
    elif blur < 0.62:
        length = int(rng.integers(3, 8))
        kernel = np.zeros((length, length), np.float32)
        kernel[length // 2] = 1.0 / length
        turn = cv2.getRotationMatrix2D((length / 2 - 0.5, length / 2 - 0.5), rng.uniform(0, 180), 1)
        kernel = np.asarray(cv2.warpAffine(kernel, turn, (length, length)))
        out = cv2.filter2D(out, -1, kernel / max(kernel.sum(), 1e-3))
    if rng.random() < 0.3:
        scale = rng.uniform(sharpest, 0.9)
        small = cv2.resize(out, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        out = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
    if rng.random() < 0.35:
        out = out + rng.uniform(0.3, 1.2) * (out - cv2.GaussianBlur(out, (0, 0), 1.5))
    out = out + rng.normal(0, rng.uniform(0, 7), out.shape).astype(np.float32)
    image = np.clip(out, 0, 255).astype(np.uint8)
    if rng.random() < 0.85:
        _, coded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(35, 96))])
        image = np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR))
    return image
