"""Versions, specifiers, requirements and markers of packages, as far as an installer of pure wheels needs them (PEP 440 and 508)."""

import platform
import re
import sys

_VERSION = re.compile(
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?P<pre_number>\d*))?"
    r"(?:-(?P<implicit>\d+)|[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_number>\d*))?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_number>\d*))?"
    r"(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?"
)
_LETTERS = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_SPECIFIER = re.compile(r"(===|~=|==|!=|<=|>=|<|>)\s*([^\s,]+)")
_REQUIREMENT = re.compile(r"\s*(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[(?P<extras>[^\]]*)\])?\s*(?P<rest>[^;]*?)\s*(?:;\s*(?P<marker>.*?)\s*)?")
_TOKEN = re.compile(r"\s*(?:(?P<text>'[^']*'|\"[^\"]*\")|(?P<op>===|~=|==|!=|<=|>=|<|>|\(|\)|not\s+in\b|in\b|and\b|or\b)|(?P<name>[a-z_][a-z_.]*))")
_LAST = (1,)
_FIRST = (-1,)


class BadRequirement(ValueError):
    """Not what names a package."""


class Version:
    def __init__(self, text):
        found = _VERSION.fullmatch(text.strip().lower())
        if not found:
            raise BadRequirement(f"{text!r} is no version")
        self.text = text.strip()
        self.release = tuple(map(int, found["release"].split(".")))
        letter = found["pre"] and _LETTERS.get(found["pre"], found["pre"])
        has_post = found["post"] or found["implicit"]
        self.is_pre = bool(letter or found["dev"])
        self.is_post = bool(has_post)
        pre = (0, letter, int(found["pre_number"] or 0)) if letter else _FIRST if found["dev"] and not has_post else _LAST
        post = int(found["implicit"] or found["post_number"] or 0) if has_post else -1
        dev = (0, int(found["dev_number"] or 0)) if found["dev"] else _LAST
        self.epoch = int(found["epoch"] or 0)
        #: Without what was built locally: no index has that.
        self.key = (self.epoch, _trimmed(self.release), pre, post, dev)


def _trimmed(release):
    while len(release) > 1 and release[-1] == 0:
        release = release[:-1]
    return release


class Specifiers:
    """`>=1.2,<2`: all of them."""

    def __init__(self, text):
        text = text.strip().removeprefix("(").removesuffix(")").strip()
        self.text = text
        self._all = _SPECIFIER.findall(text)
        if text and ",".join("".join(one) for one in self._all) != re.sub(r"\s+", "", text).strip(","):
            raise BadRequirement(f"{text!r} says nothing of versions")
        #: Somebody has named an early version, and wants it.
        self.wants_pre = any(op not in ("!=", "===") and Version(version.removesuffix(".*")).is_pre for op, version in self._all)

    def include(self, version):
        return all(_holds(version, op, text) for op, text in self._all)


def _holds(version, op, text):
    if op == "===":
        return version.text == text
    if text.endswith(".*"):
        begin = Version(text[:-2])
        padded = version.release + (0,) * (len(begin.release) - len(version.release))
        is_in = version.epoch == begin.epoch and padded[: len(begin.release)] == begin.release
        return is_in == (op == "==")
    other = Version(text)
    if op == "~=":
        return version.key >= other.key and _holds(version, "==", f"{other.epoch}!{'.'.join(map(str, other.release[:-1]))}.*")
    if op == "<":
        # `<2` does not mean the early versions of 2.
        is_early = version.is_pre and not other.is_pre and _trimmed(version.release) == _trimmed(other.release)
        return version.key < other.key and not is_early
    if op == ">":
        is_late = version.is_post and not other.is_post and _trimmed(version.release) == _trimmed(other.release)
        return version.key > other.key and not is_late
    compared = (version.key > other.key) - (version.key < other.key)
    return {"==": compared == 0, "!=": compared != 0, "<=": compared <= 0, ">=": compared >= 0}[op]


class Requirement:
    """`name[extra] >=1; marker`."""

    def __init__(self, text):
        found = _REQUIREMENT.fullmatch(text)
        if not found or found["rest"].startswith("@"):
            raise BadRequirement(f"{text.strip()!r} names no package of an index")
        self.text = text.strip()
        self.name = normalized(found["name"])
        self.extras = {normalized(extra) for extra in (found["extras"] or "").split(",") if extra.strip()}
        self.specifiers = Specifiers(found["rest"])
        self._marker = found["marker"]

    def is_wanted(self, extras):
        """Here, and with one of the extras that were asked for."""
        return self._marker is None or any(_Marker(self._marker, extra).holds() for extra in extras or {""})


def normalized(name):
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _environment(extra):
    version = platform.python_version()
    return {
        "os_name": "posix",
        "sys_platform": sys.platform,
        "platform_machine": platform.machine(),
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "implementation_version": version,
        "platform_system": platform.system(),
        "platform_release": "",
        "platform_version": "",
        "python_version": ".".join(version.split(".")[:2]),
        "python_full_version": version,
        "extra": extra,
    }


class _Marker:
    def __init__(self, text, extra):
        self._values = _environment(extra)
        self._tokens = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if not found:
                raise BadRequirement(f"{text!r} is no marker")
            self._tokens.append(found)
            at = found.end()
        self._at = 0
        self._text = text

    def holds(self):
        answer = self._either()
        if self._at != len(self._tokens):
            raise BadRequirement(f"{self._text!r} is no marker")
        return answer

    def _either(self):
        answer = self._both()
        while self._takes("or"):
            answer = self._both() or answer
        return answer

    def _both(self):
        answer = self._one()
        while self._takes("and"):
            answer = self._one() and answer
        return answer

    def _one(self):
        if self._takes("("):
            answer = self._either()
            if not self._takes(")"):
                raise BadRequirement(f"{self._text!r} is no marker")
            return answer
        left, op, right = self._value(), re.sub(r"\s+", " ", self._next()["op"] or ""), self._value()
        return _compare(left, op, right)

    def _value(self):
        found = self._next()
        if found["text"]:
            return found["text"][1:-1]
        if found["name"] not in self._values:
            raise BadRequirement(f"{self._text!r} is no marker")
        return self._values[found["name"]]

    def _next(self):
        if self._at >= len(self._tokens):
            raise BadRequirement(f"{self._text!r} is no marker")
        self._at += 1
        return self._tokens[self._at - 1]

    def _takes(self, op):
        if self._at < len(self._tokens) and self._tokens[self._at]["op"] == op:
            self._at += 1
            return True
        return False


def _compare(left, op, right):
    if op in ("in", "not in"):
        return (left in right) == (op == "in")
    try:
        return _holds(Version(left), op, right)
    except BadRequirement:
        pass
    compared = (left > right) - (left < right)
    answers = {"==": compared == 0, "===": compared == 0, "!=": compared != 0, "<": compared < 0, ">": compared > 0}
    answers |= {"<=": compared <= 0, ">=": compared >= 0}
    if op not in answers:
        raise BadRequirement(f"{op!r} compares no texts")
    return answers[op]
