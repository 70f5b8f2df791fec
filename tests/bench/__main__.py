"""`make bench`: one table of all figures; or longer benches by name: `make bench ARGS="sdk node"`, `ARGS=all`.

Ratios count, not seconds.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from tests.bench import figures


def main() -> None:
    benches = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    wanted = sys.argv[1:]
    if not wanted:
        figures.main()
    if wanted == ["all"]:
        wanted = [name.removeprefix("bench_") for name in benches]
    for name in wanted:
        if f"bench_{name}" not in benches:
            sys.exit(f"no bench {name!r}; there are: {', '.join(bench.removeprefix('bench_') for bench in benches)}")
        module = importlib.import_module(f"tests.bench.bench_{name}")
        print(f"\n== {name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        module.main()


if __name__ == "__main__":
    main()
