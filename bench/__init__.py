"""Benchmarks. They use the public API and the command line only, and print ratios within one run."""
