"""Measuring on recordings: what prefetch would have done for runs that have already happened."""
