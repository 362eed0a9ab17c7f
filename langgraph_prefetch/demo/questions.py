"""What the demo's agent is asked, and what the scripted model thinks on the way to its answers.

The thinking is written, not recorded; it is meant to look like what models write, and so not every query stands in
it word for word, and some of it speaks of searches that never come.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One message of the model that thinks and then searches, for several things at once where there are several."""

    thought: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the searches it takes, and the thought before the answer; ``topic`` stands for it in a table."""

    topic: str
    text: str
    steps: tuple[Step, ...]
    conclusion: str


QUESTIONS: tuple[Question, ...] = (
    Question(
        "caching results",
        "How do I cache the results of an expensive function, and can I see how often the cache was used?",
        (
            Step(
                "The user wants memoization. The usual tool for that is a decorator in functools. I should look up "
                "functools.lru_cache to see which arguments it takes and what it reports about its use.",
                ("functools.lru_cache",),
            ),
            Step(
                "That covers a bounded cache. There is also a simpler, unbounded variant in the same module. To be "
                "complete I will look up functools.cache as well, so that the two can be compared in the answer.",
                ("functools.cache",),
            ),
        ),
        "Both decorators are documented. The counts come from the cache_info method of the wrapped function, which the "
        "first passage mentions, so nothing else is needed.",
    ),
    Question(
        "the ten largest items",
        "Which function gives me the ten largest items of a long list without sorting all of it?",
        (
            Step(
                "Sorting everything would be wasteful for ten items. A heap does this in one pass, and the standard "
                "library has a function for exactly that. Let me search for heapq.nlargest and confirm its signature, "
                "because I am not sure whether it takes a key.",
                ("heapq.nlargest",),
            ),
        ),
        "The passage confirms it. I could look up heapq.nsmallest too, but the question only asks for the largest "
        "items, so this is enough to answer.",
    ),
    Question(
        "grouping log lines",
        "I want to group log lines that follow each other by hour. What should I use, and what is the catch?",
        (
            Step(
                "Grouping neighbours by a computed key sounds like groupby. The catch, as far as I remember, is that "
                "it only looks at consecutive elements, so unsorted input gives a group more than once. I need to "
                "verify that in the documentation before I say so.",
                ("itertools.groupby consecutive keys",),
            ),
            Step(
                "Right, consecutive keys only. The alternative that does not need sorted input is a dictionary of "
                "lists. I'll look up collections.defaultdict to give the user a second option that works in any order.",
                ("collections.defaultdict",),
            ),
        ),
        "Now I can describe both ways and say when to choose which. The order of the input decides.",
    ),
    Question(
        "temporary files",
        "How do I write a temporary file that another process can open by its name?",
        (
            Step(
                "The file needs a visible name in the file system, so TemporaryFile is out, because it may have none. "
                "I should search for tempfile.NamedTemporaryFile, and look at what its delete argument does.",
                ("tempfile.NamedTemporaryFile",),
            ),
            Step(
                "It can be opened by name. If the user wants to manage the life of the file alone, the lower level "
                "function is the better one. Next, I need to search for tempfile.mkstemp, which the passage mentions "
                "but does not explain in any detail.",
                ("tempfile.mkstemp",),
            ),
        ),
        "The two differ in who removes the file. That is the point to make.",
    ),
    Question(
        "measuring time",
        "What is the right clock to measure how long a piece of code takes?",
        (
            Step(
                "There are several clocks in the time module, and they differ in resolution and in whether they can "
                "go backwards. I should search for time.perf_counter, since it has the best resolution. I also need to "
                "look up time.monotonic, so that the answer can say how the two differ in practice.",
                ("time.perf_counter", "time.monotonic"),
            ),
            Step(
                "For short snippets one run says little; the user may be better served by a tool that repeats the "
                "measurement. Let me look up timeit.Timer before recommending it, and see how the number of runs is "
                "chosen.",
                ("timeit.Timer",),
            ),
        ),
        "With these passages I can recommend a clock and a tool, each for its case.",
    ),
    Question(
        "running on all cores",
        "How can I run the same function over many inputs on all cores?",
        (
            Step(
                "All cores means processes rather than threads for Python code. The modern interface is in "
                "concurrent.futures. I should look for concurrent.futures.Executor.map and what it says about order, "
                "because results ought to come back as the inputs went in.",
                ("concurrent.futures.Executor.map",),
            ),
            Step(
                "The method is described, but what the older pool does with inputs in batches is not in the passage. "
                "I'd better check that too.",
                ("multiprocessing Pool map chunksize",),
            ),
        ),
        "I have both interfaces now. I might search for the start methods as well, though that goes beyond what was "
        "asked, so I will answer.",
    ),
    Question(
        "ordering by dependency",
        "Is there something in the standard library that orders tasks by their dependencies?",
        (
            Step(
                "Ordering by dependencies is a topological sort. I believe a class for it came with Python 3.9, in a "
                "module about graphs. I need to look up graphlib.TopologicalSorter to see how it is fed and how cycles "
                "are reported.",
                ("graphlib.TopologicalSorter",),
            ),
            Step(
                "It raises an error on a cycle. What that error carries would be useful to the user, so let me check "
                "the exception's own entry too.",
                ("graphlib.CycleError",),
            ),
        ),
        "That is everything: the class, its use and its error.",
    ),
    Question(
        "splitting command lines",
        "How do I split a command line as the shell does, and put it together again safely?",
        (
            Step(
                "Splitting with quotes respected is what shlex is for, and a plain str.split would break quoted "
                "arguments. Let me search for shlex.split first, to see how comments and backslashes are treated.",
                ("shlex.split",),
            ),
            Step(
                "For the way back every argument has to be quoted, otherwise a space or a semicolon would change the "
                "command. I want to look up shlex.join, which does that for a whole list, if I remember it correctly.",
                ("shlex.join",),
            ),
        ),
        "Both directions are covered. The quoting is what makes it safe.",
    ),
)
