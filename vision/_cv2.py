"""OpenCV, or a word on what to install where it cannot load.

`opencv-python` links to the desktop's graphics libraries, which a bare server lacks. `vision/__init__.py`
imports this module first, so whichever part of vision is imported, the message is this one.
"""

from __future__ import annotations

try:
    import cv2
except ImportError as error:
    raise ImportError(
        f"OpenCV cannot load ({error}). Install the libraries that it needs: "
        "`apt install libgl1 libglib2.0-0` on Debian or Ubuntu, `dnf install mesa-libGL glib2` on Fedora; "
        "or take the build that needs none: `pip uninstall opencv-python`, then "
        "`pip install opencv-python-headless`."
    ) from error

__all__ = ["cv2"]
