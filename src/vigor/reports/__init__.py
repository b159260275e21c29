"""Figures, pages and what a terminal shows."""
