"""Where this program keeps what belongs to its user."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def home() -> Path:
    """The user's data folder for this program; `COMPANION_HOME` names another one."""
    if given := os.environ.get("COMPANION_HOME"):
        return Path(given).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "table-companion"
