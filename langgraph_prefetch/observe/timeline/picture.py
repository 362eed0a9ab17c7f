"""A page as a picture, drawn by whichever browser of the Chromium family is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from langgraph_prefetch.errors import TimelineError

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
WIDTH, MAX_HEIGHT = 1_280, 16_000
SECONDS = 60.0

_QUIET = ("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
_QUIETER = ("--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-extensions")
_HEIGHT = re.compile(rb'<html[^>]*data-height="(\d+)"')


def find_browser(wanted: str | None = None) -> str:
    """The path of a browser.

    Raises:
        TimelineError: there is none; the message says what to install.
    """
    for name in (wanted,) if wanted else BROWSERS:
        if (path := shutil.which(name)) is not None:
            return path
    missing = f"there is none called {wanted!r}" if wanted else "no browser of the Chromium family was found"
    raise TimelineError(
        f"a PNG is drawn by a browser, but {missing}: install Chromium (`apt install chromium`) or Google Chrome, or "
        "write .html instead"
    )


def to_png(page: str, *, browser: str | None = None) -> bytes:
    """The page as a PNG, at its full height and twice its size in pixels.

    Args:
        page: HTML.
        browser: path or name of a browser; one that is installed if None.

    Raises:
        TimelineError: there is no browser, or it did not draw.
    """
    path = find_browser(browser)
    with tempfile.TemporaryDirectory(prefix="langgraph-prefetch-", ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.png")
        source.write_text(page, encoding="utf-8")
        own = [path, *_QUIET, *_QUIETER, f"--user-data-dir={Path(folder, 'profile')}"]
        if getattr(os, "geteuid", lambda: 1)() == 0:
            own.append("--no-sandbox")  # Chromium refuses to run as root otherwise; the page is our own
        shown = _run([*own, f"--window-size={WIDTH},800", "--dump-dom", source.as_uri()])
        height = _HEIGHT.search(shown)
        if height is None:
            raise TimelineError(f"{path} did not draw the page")
        size = f"--window-size={WIDTH},{min(MAX_HEIGHT, int(height[1]))}"
        _run([*own, size, "--force-device-scale-factor=2", f"--screenshot={target}", source.as_uri()])
        if not target.exists():
            raise TimelineError(f"{path} drew the page, but wrote no picture")
        return target.read_bytes()


def _run(command: list[str]) -> bytes:
    try:
        return subprocess.run(command, capture_output=True, check=True, timeout=SECONDS).stdout  # noqa: S603
    except subprocess.TimeoutExpired:
        raise TimelineError(f"{command[0]} took longer than {SECONDS:g} seconds") from None
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or str(error).encode()
        raise TimelineError(f"{command[0]} failed: {said.decode(errors='replace').strip()[-300:]}") from error
