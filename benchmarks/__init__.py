"""Benchmarks: what Retentia costs, beside a floor and beside other systems. See `python -m benchmarks --help`."""
