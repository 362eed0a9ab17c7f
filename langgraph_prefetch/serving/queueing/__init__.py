"""Queues: who is served next, and how long a request still needs."""
