"""`python -m hyperlens`: the command line where its script is not on the path."""

from hyperlens.cli import main

if __name__ == "__main__":
    main()
