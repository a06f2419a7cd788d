"""Who reaches the live page, and how: its addresses, names, paths and token."""
