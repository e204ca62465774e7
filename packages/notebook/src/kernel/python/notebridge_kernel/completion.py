"""Completion by what is in the namespace; nothing is run but attribute look-ups."""

import re
import rlcompleter

_MAX_MATCHES = 200


def complete(namespace, before):
    """`before` is the text up to the cursor; `word` in the answer is its end, which a match takes the place of."""
    word = re.search(r"[\w.]*$", before)[0]
    completer = rlcompleter.Completer(namespace)
    found = completer.attr_matches(word) if "." in word else completer.global_matches(word) if word else []
    matches = list(dict.fromkeys(match.rstrip("( :") for match in found))
    return {"matches": matches[:_MAX_MATCHES], "word": word}
