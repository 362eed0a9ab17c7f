"""How well recorded thoughts are read: whether a search is foretold, how surely, and what that is worth."""
