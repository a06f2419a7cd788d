"""Runs for assistants and scripts: a server of the Model Context Protocol, local and read-only."""
