"""Near misses answered right: passages fetched around anchors, re-ranked for the real query, within a stated error."""
