"""`python -m bench [ROW…]`: measure, and print one JSON line a row."""

import json
import sys

from bench.rows import ROWS


def main(wanted: list[str]) -> int:
    """Run the wanted rows, or all. Returns 1 if one missed its target, 2 for an unknown name."""
    unknown = set(wanted) - set(ROWS)
    if unknown:
        print(f"unknown rows: {', '.join(sorted(unknown))}; known: {', '.join(ROWS)}", file=sys.stderr)
        return 2
    missed = False
    for name in wanted or ROWS:
        for row in ROWS[name]():
            missed |= not row.get("met", True)
            print(json.dumps({"row": name, **row}), flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
