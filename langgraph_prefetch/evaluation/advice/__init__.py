"""Would prefetch help an agent? From recorded runs to evidence for each tool, and from evidence to advice."""
