"""Variants of one component, or of the prefetch settings themselves, inside one graph."""
