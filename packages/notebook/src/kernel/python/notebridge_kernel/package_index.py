"""What an index of packages offers (PEP 503 and 691), asked by way of the host."""

import html.parser
import json
import urllib.parse
from collections import namedtuple

from .versions import BadRequirement, Specifiers, Version, normalized

INDEX = "https://pypi.org/simple"
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_MAX_WHEEL_BYTES = 256 * 1024 * 1024
#: Where the files of an index are, of those that keep them elsewhere.
_HOSTS = {"pypi.org": ("pypi.org", "files.pythonhosted.org")}


class InstallError(Exception):
    """A package cannot be had. The text says why, and the ways out; the line that asked for it says no more."""

    def _render_traceback_(self):
        return [f"\x1b[31mInstallError\x1b[39m: {self}"]


#: A file that can be had: pure Python, for this version of it, with a hash.
Wheel = namedtuple("Wheel", ("name", "version", "url", "sha256"))
#: The files of one package. `others`: whether there is something that this Python cannot use.
Offer = namedtuple("Offer", ("name", "wheels", "others"))


async def ask_index(name, index):
    url = f"{index.rstrip('/')}/{name}/"
    response = await _get(url, {"Accept": _ACCEPT})
    if response.status == 404:
        raise InstallError(f"There is no package {name!r} at {index}")
    if response.status != 200:
        raise InstallError(f"{url} answered {response.status}")
    text = (await response.bytes()).decode("utf-8", "replace")
    is_json = "json" in (response.headers.get("content-type") or "")
    files = _from_json(text) if is_json else _from_html(text)
    wheels, others = [], False
    for file in files:
        wheel = _to_wheel(name, file, response.url)
        others = others or (wheel is None and not file["yanked"])
        if wheel:
            wheels.append(wheel)
    return Offer(name, wheels, others)


async def fetch_wheel(wheel):
    response = await _get(wheel.url, {})
    if response.status != 200:
        raise InstallError(f"{wheel.url} answered {response.status}")
    if int(response.headers.get("content-length") or 0) > _MAX_WHEEL_BYTES:
        raise InstallError(f"{wheel.url} is larger than {_MAX_WHEEL_BYTES} bytes")
    return await response.bytes()


async def _get(url, headers):
    from pyodide.http import pyfetch

    try:
        return await pyfetch(url, headers=headers)
    except OSError as error:
        host = urllib.parse.urlsplit(url).netloc
        options = " ".join(f"--allow-net {one}" for one in _HOSTS.get(host, (host,)))
        raise InstallError(f"Packages cannot be fetched from {host}: {error}\nTo allow it, start the notebook with: {options}") from None


def _from_json(text):
    try:
        return [
            {
                "name": str(file["filename"]),
                "url": str(file["url"]),
                "sha256": (file.get("hashes") or {}).get("sha256"),
                "python": file.get("requires-python") or "",
                "yanked": bool(file.get("yanked")),
            }
            for file in json.loads(text)["files"]
        ]
    except (KeyError, TypeError, AttributeError, ValueError):
        raise InstallError("The index answered with something that is no list of files") from None


class _Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.files = []
        self._open = None

    def handle_starttag(self, tag, attributes):
        if tag != "a":
            return
        values = dict(attributes)
        url, _, fragment = (values.get("href") or "").partition("#")
        sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
        python = values.get("data-requires-python") or ""
        self._open = {"name": "", "url": url, "sha256": sha256, "python": python, "yanked": "data-yanked" in values}

    def handle_data(self, data):
        if self._open:
            self._open["name"] += data.strip()

    def handle_endtag(self, tag):
        if tag == "a" and self._open:
            self.files.append(self._open)
            self._open = None


def _from_html(text):
    links = _Links()
    links.feed(text)
    return links.files


def _to_wheel(name, file, base):
    """None for what this Python cannot use."""
    parts = file["name"].removesuffix(".whl").split("-")
    if not file["name"].endswith(".whl") or len(parts) not in (5, 6) or file["yanked"] or not file["sha256"]:
        return None
    if normalized(parts[0]) != name or parts[-2:] != ["none", "any"] or not any(_runs(tag) for tag in parts[-3].split(".")):
        return None
    try:
        version = Version(parts[1])
        if not Specifiers(file["python"]).include(_this_python()):
            return None
    except BadRequirement:
        return None
    return Wheel(name, version, urllib.parse.urljoin(base, file["url"]), file["sha256"].lower())


def _runs(tag):
    minor = tag.removeprefix("py3")
    return tag == "py3" or (tag.startswith("py3") and minor.isdigit() and int(minor) <= _this_python().release[1])


def _this_python():
    import platform

    return Version(platform.python_version())
