"""How long verbs take to start, as a multiple of bare Python's own start-up."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15
LIMITS = {"pinui --version": 4.0, "pinui history": 8.0}


def measure() -> dict[str, float]:
    """The median of each as a multiple of bare Python, measured in turns so that a busy machine is fair to all."""
    pinui = str(Path(sys.executable).with_name("pinui"))
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "pinui --version": [pinui, "--version"],
        "pinui history": [pinui, "history"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as home:
        # Not PINUI_HOME: most people have none.
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PINUI_", "XDG_", "PYTHON"))}
        environment = own | {"HOME": home, "USERPROFILE": home}
        subprocess.run(
            [pinui, "history", "import", "-"], env=environment, check=True, input=_rows(), stderr=subprocess.DEVNULL
        )
        for _ in range(ROUNDS):
            for name, command in commands.items():
                begun = time.perf_counter()
                subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
                times[name].append(time.perf_counter() - begun)
    bare = statistics.median(times.pop("python -c pass"))
    return {name: statistics.median(some) / bare for name, some in times.items()}


def _rows() -> bytes:
    cid = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG"
    times = range(1_700_000_000_000, 1_700_000_000_100)
    return b"".join(b'{"cid":"%s","timestamp":%d,"size":7,"data":{"a":1}}\n' % (cid.encode(), at) for at in times)


def main() -> None:
    """Print the table."""
    print(f"{'start-up':<20} {'× bare Python':>14} {'limit':>7}")
    for name, ratio in measure().items():
        print(f"{name:<20} {ratio:>14.1f} {LIMITS[name]:>7.1f}")


if __name__ == "__main__":
    main()
