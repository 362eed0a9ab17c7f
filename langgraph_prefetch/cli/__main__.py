"""``python -m langgraph_prefetch.cli`` is ``langgraph-prefetch``."""

import sys

from langgraph_prefetch.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
