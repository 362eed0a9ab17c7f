"""Statistics of paired and unpaired runs: numbers in, estimates with intervals out."""
