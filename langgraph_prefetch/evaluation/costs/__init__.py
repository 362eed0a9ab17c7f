"""What runs cost: counted usage, times the prices of a dated file, in sums that are exact."""
