"""Are our statements about an optimiser's own run true? Measured on runs whose truth is known."""
