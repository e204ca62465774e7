"""What the kernel shows, on its way to the host: long texts in pieces, and no more under way than the host can take.

The host acknowledges what it has taken. While too much is under way, a little more is kept here, since a kernel drops messages
that nobody takes; then nothing is read any more, and the kernel keeps the rest.
"""

import json
import re
from collections import deque

#: Bytes that the host has not acknowledged.
_MOST_UNDER_WAY = 1_000_000
#: Bytes that are kept here beyond that. Small messages above all: of those a kernel keeps a thousand.
_MOST_HELD = 32_000_000
#: One output that is no text. The host could not read a larger one.
_LARGEST = 256_000_000
_PIECE = 32_768
_STREAM = re.compile(rb'\A\s*\{\s*"name"\s*:\s*"(stdout|stderr)"\s*,\s*"text"\s*:\s*"')
_STREAM_END = re.compile(rb'"\s*\}\s*\Z')
_HIGH_SURROGATE = re.compile(rb"\\u[dD][89abAB]")


class Output:
    """Hands messages on, in order. `post(message, content)` writes one of them."""

    def __init__(self, post):
        self._post = post
        self._waiting = deque()
        self._under_way = 0
        self._held = 0

    @property
    def has_room(self):
        return self._held < _MOST_HELD

    def put(self, message):
        self._waiting.append((message, _pieces(message)))
        self._held += _size_of(message)
        self._go_on()

    def acknowledge(self, count):
        self._under_way -= count
        self._go_on()

    def _go_on(self):
        while self._waiting and self._under_way < _MOST_UNDER_WAY:
            message, pieces = self._waiting[0]
            content = next(pieces, None)
            if content is None:
                self._waiting.popleft()
                self._held -= _size_of(message)
                continue
            self._under_way += self._post(message, content)


def _size_of(message):
    return len(message.content) + sum(map(len, message.buffers))


def _pieces(message):
    if message.type == "stream" and len(message.content) > _PIECE:
        return _divide_stream(message.content)
    if _size_of(message) > _LARGEST:
        return iter([_too_large(message)])
    return iter([message.content])


def _too_large(message):
    size, message.buffers = _size_of(message), ()
    text = "[Left out: a {} of {:,} bytes. One output may have {:,}.]\n".format(message.type, size, _LARGEST)
    message.type = "stream"
    return json.dumps({"name": "stderr", "text": text}).encode()


def _divide_stream(content):
    """The same text in several messages. The JSON stays as it is: of a gigabyte there is no second copy."""
    begin, end = _STREAM.match(content), _STREAM_END.search(content, max(0, len(content) - 64))
    if begin is None or end is None:
        yield from _divide_parsed(content)
        return
    head, at = b'{"name":"' + begin.group(1) + b'","text":"', begin.end()
    while at < end.start():
        cut = _cut(content, at, min(at + _PIECE, end.start()), end.start())
        yield head + content[at:cut] + b'"}'
        at = cut


def _divide_parsed(content):
    try:
        output = json.loads(content)
        name, text = output["name"], output["text"]
    except (ValueError, KeyError, TypeError):
        return
    for at in range(0, len(text), _PIECE):
        yield json.dumps({"name": name, "text": text[at : at + _PIECE]}).encode()


def _cut(content, begin, at, end):
    """A place at or before `at` that is within no character and no escape."""
    if at >= end:
        return end
    while content[at] & 0xC0 == 0x80:
        at -= 1
    if _is_escaped(content, begin, at):
        at -= 1
    for back in range(2, 6):
        if content[at - back : at - back + 2] == b"\\u" and not _is_escaped(content, begin, at - back):
            at -= back
            break
    # The first half of a pair stays with the second one.
    if _HIGH_SURROGATE.match(content, at - 6) and not _is_escaped(content, begin, at - 6):
        at -= 6
    return at


def _is_escaped(content, begin, at):
    """Whether an odd number of backslashes stands before it."""
    first = at
    while first > begin and content[first - 1] == 0x5C:
        first -= 1
    return (at - first) % 2 == 1
