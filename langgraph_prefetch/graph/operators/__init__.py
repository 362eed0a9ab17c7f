"""The operators of a retrieval workflow that stand beside its searches: context is reduced, memory is exchanged."""
