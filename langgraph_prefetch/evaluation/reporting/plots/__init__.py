"""Plots as inline SVG, drawn with matplotlib, each once for a wide page and once for a narrow one."""
