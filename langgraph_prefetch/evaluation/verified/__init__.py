"""Verified serving on recorded runs: the next model call begins on a guess, and counts only if the guess was right."""
