"""What a suite reports, as values; and the writers that turn it into Markdown and one HTML page."""
