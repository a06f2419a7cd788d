"""Our optimiser beside others', on functions that others wrote: problems, players, runs, the page."""
