"""Figures of the results of che, drawn with matplotlib from the CSV files that `che plot` writes."""
