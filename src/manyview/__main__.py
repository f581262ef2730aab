"""`python -m manyview`: the command line."""

from manyview.cli.app import main

main()
