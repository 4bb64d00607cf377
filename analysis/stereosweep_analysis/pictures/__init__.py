"""Pictures of score tables at the width of a page; each function returns a matplotlib figure."""
