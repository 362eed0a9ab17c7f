"""Ways to see what prefetch did: event sinks for logs, files, OpenTelemetry and Prometheus."""
