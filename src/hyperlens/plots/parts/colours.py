"""The colours of all figures; their greys keep their contrast on white and on black."""

# Okabe and Ito's palette, told apart with every common colour vision; blue a little lighter than
# theirs, to be seen on black as well
BLUE, SKY, ORANGE, VERMILLION = "#2485C1", "#56B4E9", "#E69F00", "#D55E00"
GREEN, PURPLE = "#009E73", "#CC79A7"
GREY = "#8A919C"
INK = "#6B7280"
DARK = "#20242B"  # outline on a map, whatever the page
BAND = "rgba(86, 180, 233, 0.24)"
SHADE = "rgba(128, 134, 145, 0.13)"
GRID = "rgba(128, 134, 145, 0.22)"


def see_through(colour: str, alpha: float) -> str:
    """A colour one can look through."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {alpha})"
