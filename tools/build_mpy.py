"""Compile the node's package for boards: `build/mpy/<march>/gauge/*.mpy`, one folder for each architecture.

python tools/build_mpy.py            armv6m, armv7m, x64 and plain bytecode
python tools/build_mpy.py xtensawin  ESP32
"""

from __future__ import annotations

import argparse
from pathlib import Path

from streamgauge import firmware
from streamgauge.engines.base import MARCHES

BYTECODE = "bytecode"
DEFAULT = ("armv6m", "armv7m", "x64", BYTECODE)


def main() -> None:
    names = [march for march in MARCHES if march] + [BYTECODE]
    parser = argparse.ArgumentParser(description="Compile the node's package for boards.")
    parser.add_argument("march", nargs="*", default=list(DEFAULT), metavar="MARCH", help=", ".join(names))
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "build" / "mpy")
    parser.add_argument("-O", dest="optimisation", type=int, choices=range(4), default=firmware.OPTIMISATION)
    options = parser.parse_args()
    for march in options.march:
        if march not in names:
            parser.error(f"no architecture is named {march}; choose from {', '.join(names)}")
        built = firmware.build(None if march == BYTECODE else march, optimisation=options.optimisation)
        for name, content in built.items():
            path = options.output / march / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        sizes = ", ".join(f"{Path(name).stem} {len(content):,}" for name, content in built.items())
        print(f"{march}: {sum(map(len, built.values())):,} bytes ({sizes})")


if __name__ == "__main__":
    main()
