"""One self-contained HTML file about one or several runs of any probe."""
