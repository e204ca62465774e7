"""Answers questions about notebook texts with Python's real nbformat. A JSON list of questions on stdin, of answers on stdout."""

import json
import sys
import warnings

import nbformat

# What nbformat only mends and warns of (missing or equal ids) is a fault in a file that we wrote.
strict = "--strict" in sys.argv


def verdict(text):
    """None for a valid notebook, else what nbformat says."""
    with warnings.catch_warnings():
        warnings.simplefilter("error" if strict else "ignore")
        try:
            found = {}
            nbformat.reads(text, as_version=nbformat.NO_CONVERT, capture_validation_error=found)
            return str(found["ValidationError"])[:300] if found else None
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]


def opened(text):
    """None for a text that Jupyter's server opens, valid or not, else why it does not."""
    try:
        nbformat.reads(text, as_version=4, capture_validation_error={})
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]


def rewritten(text):
    """The text that nbformat would write after reading this one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nbformat.writes(nbformat.reads(text, as_version=4)) + "\n"


answers = {"verdict": verdict, "opened": opened, "rewritten": rewritten}
logging = __import__("logging")
logging.disable(logging.CRITICAL)
json.dump([answers[question](text) for question, text in json.load(sys.stdin)], sys.stdout)
