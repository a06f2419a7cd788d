"""Sections on single trials."""
