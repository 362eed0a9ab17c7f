from tests.observe.timeline.test_in_browser import browser

__all__ = ["browser"]
