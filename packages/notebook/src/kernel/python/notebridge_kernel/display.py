"""`display` and its relatives. What they show goes to the worker as a report; `connect` says how."""

import uuid

from .formats import checked_bundle, mime_bundle

_report = None


def connect(report):
    global _report
    _report = report


def to_result(value, count):
    """The output of a cell's last expression, which is reported with the end of the cell."""
    data, metadata = mime_bundle(value)
    return _filled({"output_type": "execute_result", "data": data, "metadata": metadata, "execution_count": count})


def display(*objects, include=None, exclude=None, metadata=None, raw=False, display_id=None, clear=False, transient=None):
    """Shows objects, in order. With `display_id` (True: a new one) they can be shown anew later; returns a handle then."""
    if clear:
        clear_output(wait=True)
    if display_id is True:
        display_id = uuid.uuid4().hex
    for value in objects:
        _send_display(value, include, exclude, metadata, raw, display_id, update=False)
    return DisplayHandle(display_id) if display_id else None


def update_display(value, *, display_id, include=None, exclude=None, metadata=None, raw=False):
    _send_display(value, include, exclude, metadata, raw, display_id, update=True)


def clear_output(wait=False):
    """Takes away what the cell has shown: at once, or with `wait` when the next output comes."""
    _report({"type": "clear", "wait": bool(wait)})


class DisplayHandle:
    def __init__(self, display_id=None):
        self.display_id = display_id or uuid.uuid4().hex

    def __repr__(self):
        return f"<DisplayHandle display_id={self.display_id}>"

    def display(self, value, **options):
        display(value, display_id=self.display_id, **options)

    def update(self, value, **options):
        update_display(value, display_id=self.display_id, **options)


def _send_display(value, include, exclude, metadata, raw, display_id, update):
    if raw:
        data, about = checked_bundle(value, metadata)
    else:
        data, about = mime_bundle(value, include, exclude)
        about.update(checked_bundle({}, metadata)[1])
    output = {"output_type": "display_data", "data": data, "metadata": about}
    named = {"displayId": str(display_id), "update": update} if display_id else {}
    _report({"type": "output", "output": _filled(output), **named})


def _filled(output):
    # A value whose text forms were all refused still has its place.
    output["data"] = output["data"] or {"text/plain": ""}
    return output
