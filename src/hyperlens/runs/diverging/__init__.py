"""Costs that diverged: told from the others, and in words."""
