"""`python -m sonde`."""

from sonde.cli import main

main()
