"""Sections that answer one question each, of one run or of many."""
