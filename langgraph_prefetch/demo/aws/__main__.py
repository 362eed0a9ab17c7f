"""``python -m langgraph_prefetch.demo.aws``."""

from langgraph_prefetch.demo.aws.command import main

if __name__ == "__main__":
    raise SystemExit(main())
