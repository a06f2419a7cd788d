"""Do trials that are chosen to settle an explanation settle it? Measured where the truth is known."""
