"""repr, but containers too wide for a line are spread over several and endless ones are cut, as IPython does it."""

_WIDTH = 79
_MAX_ITEMS = 1000
_MAX_DEPTH = 50
_BRACKETS = {list: "[]", tuple: "()", set: "{}", frozenset: ("frozenset({", "})"), dict: "{}"}


def pretty(value):
    return _lay_out(value, 0, _WIDTH, ())


def _lay_out(value, indent, room, above):
    """`room` is what the first line may take; `above` holds the ids of the containers around, against cycles."""
    kind = type(value)
    # A subclass, or a class with its own repr (a named tuple, a defaultdict), knows better.
    if kind not in _BRACKETS or not value:
        return repr(value)
    opening, closing = _BRACKETS[kind]
    if id(value) in above or len(above) >= _MAX_DEPTH:
        return f"{opening}...{closing}"
    above = (*above, id(value))
    inner = indent + len(opening)
    parts = [_item(item, inner, above) for item in _shown(value, kind)]
    if len(value) > _MAX_ITEMS:
        parts.append("...")
    if kind is tuple and len(value) == 1:
        closing = ",)"
    flat = opening + ", ".join(parts) + closing
    if len(flat) <= room - indent and "\n" not in flat:
        return flat
    return opening + (",\n" + " " * inner).join(parts) + closing


def _shown(value, kind):
    """The first items: pairs for a dict, and sets in order where there is one, so that the same set looks the same."""
    items = value.items() if kind is dict else value
    if kind in (set, frozenset) and len(value) <= _MAX_ITEMS:
        try:
            items = sorted(value)
        except TypeError:
            pass
    return [(kind is dict, item) for item, _ in zip(items, range(_MAX_ITEMS))]


def _item(pair, indent, above):
    is_entry, item = pair
    if not is_entry:
        return _lay_out(item, indent, _WIDTH, above)
    key = _lay_out(item[0], indent, _WIDTH, above) + ": "
    return key + _lay_out(item[1], indent + len(key.rpartition("\n")[2]), _WIDTH, above)
