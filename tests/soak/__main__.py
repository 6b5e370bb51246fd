"""`python -m tests.soak SECONDS [SEED]`: tell stories for so long, and then what they came to."""

import sys

from tests.soak.soak import soak

print(soak(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
