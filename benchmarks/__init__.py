"""Measurements, as ratios to a floor in the same run: `python -m benchmarks`, which `make bench` calls."""
