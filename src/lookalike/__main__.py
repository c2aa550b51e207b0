"""`python -m lookalike` is the command line."""

from lookalike.apps.cli import main

if __name__ == "__main__":
    main(prog_name="lookalike")
