"""`run_offline.py FILE`: runs a program as `__main__`, held to this machine as the tests are."""

import os
import runpy
import sys

from tests.offline import clean_environment, loopback_only

if __name__ == "__main__":
    clean_environment(os.environ)
    sys.argv = sys.argv[1:]
    with loopback_only():
        runpy.run_path(sys.argv[0], run_name="__main__")
