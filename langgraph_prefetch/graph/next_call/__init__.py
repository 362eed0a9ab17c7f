"""The next model call, started in private on probable results and adopted only if the real request is the same."""
