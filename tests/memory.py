"""How much memory a program took at its peak, for tests and benches."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_kib(pid: int | None = None) -> int:
    """The peak of this process, or of another one while it runs (0 where the system doesn't tell).

    Not `ru_maxrss`: Linux starts that at the peak of the process that started this one, so that a small program begun
    by a large one could grow unseen.
    """
    status = Path(f"/proc/{pid or 'self'}/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
    if pid is not None:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak
