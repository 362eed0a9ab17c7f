"""The evaluation suites as they are run: which agents, which store, which questions; the machinery is evaluation's."""
