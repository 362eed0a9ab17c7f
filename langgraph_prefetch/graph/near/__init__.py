"""Near misses in a live graph: passages fetched while the model thinks, ranked when its call comes."""
