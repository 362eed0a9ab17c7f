"""Disaggregated serving: how many nodes prefill and decode, which path reads a cached blob, which engine answers.

What chooses live, for large cached blobs and for OpenAI-compatible engines, chooses in the simulation of KV caches too.
"""
