"""`%pip install` and `micropip.install`: pure wheels of an index, with what they need, into the memory of this Python."""

import hashlib
import importlib
import importlib.metadata
import io
import os
import shlex
import shutil
import sys
import zipfile

from . import network
from .package_index import INDEX, InstallError, ask_index, fetch_wheel
from .packages import ADVICE, COMPILED
from .versions import BadRequirement, Requirement, Version, normalized

_MAX_PACKAGES = 100
_MAX_UNPACKED_BYTES = 512 * 1024 * 1024
_folder = f"/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
_SWITCHES = {"-q": None, "--quiet": None, "-U": "upgrade", "--upgrade": "upgrade", "--no-deps": "no_deps", "--pre": "pre"}
_SWITCHES |= {name: None for name in ("--no-cache-dir", "--disable-pip-version-check", "--user", "-v", "--prefer-binary")}


async def run_pip(text):
    """What stands behind `%pip`."""
    words = shlex.split(text)
    if words[:1] == ["list"] or words[:1] == ["freeze"]:
        return print("\n".join(f"{name}=={version}" for name, version in installed()))
    if words[:1] != ["install"]:
        raise InstallError("Of %pip this notebook has: %pip install PACKAGE…, %pip list")
    wanted, index, how = [], INDEX, {}
    rest = iter(words[1:])
    for word in rest:
        name, _, value = word.partition("=")
        if name in ("-i", "--index-url", "-r", "--requirement"):
            value = value or next(rest, "")
            if name in ("-i", "--index-url"):
                index = value
            else:
                wanted += _read_requirements(value)
        elif word in _SWITCHES:
            how[_SWITCHES[word]] = True
        elif word.startswith("-"):
            raise InstallError(f"%pip install: {word} is not known here. Known: {' '.join(_SWITCHES)} -r FILE --index-url URL")
        else:
            wanted.append(word)
    how.pop(None, None)
    await install(wanted, index=index, **how)


async def install(requirements, index=INDEX, upgrade=False, no_deps=False, pre=False):
    """Fetches everything first, and then puts it in place: where something is missing, nothing is changed."""
    if not network.is_there():
        raise InstallError(f"Packages can't be installed here. {ADVICE}")
    try:
        wanted = [Requirement(text) for text in requirements]
        plan = _Plan(index, upgrade, no_deps, pre)
        await plan.make(wanted)
    except BadRequirement as error:
        raise InstallError(f"%pip install: {error}") from None
    unpacking = [(wheel, archive, _files_of(wheel, archive)) for wheel, archive in plan.chosen.values()]
    for wheel, archive, files in unpacking:
        _remove(wheel.name)
        _unpack(archive, files)
    importlib.invalidate_caches()
    names = ", ".join(f"{wheel.name} {wheel.version.text}" for wheel, _ in plan.chosen.values())
    print(f"Installed {names}, until this Python is restarted." if names else "There already: " + ", ".join(one.text for one in wanted))
    loaded = sorted({name for wheel, _ in plan.chosen.values() for name in plan.replaced if normalized(name) == wheel.name})
    if loaded:
        print(f"Another version was there ({', '.join(loaded)}): what was imported of it stays until a restart.")


def installed():
    return sorted((normalized(one.metadata["Name"]), one.version) for one in _found())


class _Plan:
    """Which wheels, with what they need. The newest that fits, and another one where a later requirement rules it out."""

    def __init__(self, index, upgrade, no_deps, pre):
        self._index, self._upgrade, self._no_deps, self._pre = index, upgrade, no_deps, pre
        self._offers, self._asked = {}, {}
        self.chosen, self.replaced = {}, []
        self._there = dict(installed())

    async def make(self, requirements):
        waiting = [(one, set(), True) for one in requirements]
        while waiting:
            requirement, extras, is_first = waiting.pop(0)
            if requirement.is_wanted(extras):
                waiting += [(needed, requirement.extras, False) for needed in await self._take(requirement, is_first)]

    async def _take(self, requirement, is_first):
        """What the package needs in turn; nothing if it is planned or there already."""
        name = requirement.name
        asked = self._asked.setdefault(name, [])
        asked.append(requirement)
        there = self._there.get(name)
        known = self.chosen[name][0].version if name in self.chosen else Version(there) if there else None
        is_known = known is not None and requirement.specifiers.include(known) and not (self._upgrade and is_first and name not in self.chosen)
        is_more = bool(requirement.extras - {extra for one in asked[:-1] for extra in one.extras})
        if is_known and not (is_more and name in self.chosen):
            return []
        if name not in self.chosen or not is_known:
            self.chosen[name] = await self._choose(name, asked)
            if there:
                self.replaced.append(name)
        if len(self.chosen) > _MAX_PACKAGES or len(asked) > _MAX_PACKAGES:
            raise InstallError(f"{requirement.text} needs more than {_MAX_PACKAGES} packages")
        return [] if self._no_deps else _needs(self.chosen[name][1])

    async def _choose(self, name, asked):
        offer = self._offers.get(name)
        if offer is None:
            try:
                offer = self._offers[name] = await ask_index(name, self._index)
            except InstallError:
                if name not in COMPILED:
                    raise
                # An index that can be asked would not help.
                raise InstallError(_not_pure(name)) from None
        fitting = [wheel for wheel in offer.wheels if all(one.specifiers.include(wheel.version) for one in asked)]
        takes_pre = self._pre or any(one.specifiers.wants_pre for one in asked)
        stable = [wheel for wheel in fitting if takes_pre or not wheel.version.is_pre]
        if not fitting:
            raise InstallError(_why_not(offer, asked))
        wheel = max(stable or fitting, key=lambda one: one.version.key)
        data = await fetch_wheel(wheel)
        if hashlib.sha256(data).hexdigest() != wheel.sha256:
            raise InstallError(f"{wheel.url} is not what the index says of it (its SHA-256 is another one). Nothing was installed")
        try:
            return wheel, zipfile.ZipFile(io.BytesIO(data))
        except zipfile.BadZipFile:
            raise InstallError(f"{wheel.url} is no wheel") from None


def _why_not(offer, asked):
    text = " and ".join(dict.fromkeys(one.text for one in asked))
    if offer.wheels:
        newest = max(offer.wheels, key=lambda wheel: wheel.version.key).version.text
        return f"No version that this Python can use fits {text}; the newest of those is {newest}"
    if offer.others:
        return _not_pure(offer.name)
    return f"The index has no file of {offer.name!r} that fits {text}"


def _not_pure(name):
    return (
        f"{name} has no pure wheel for this Python, and Pyodide takes no others: it has parts in C, or comes as source. {ADVICE}. "
        f"Where that one lacks it: PATH/TO/python -m pip install {name}"
    )


def _metadata(archive):
    names = [name for name in archive.namelist() if name.count("/") == 1 and name.endswith(".dist-info/METADATA")]
    if len(names) != 1 or archive.getinfo(names[0]).file_size > 16 * 1024 * 1024:
        raise InstallError("The wheel says nothing of itself")
    import email

    return email.message_from_bytes(archive.read(names[0]))


def _needs(archive):
    return [Requirement(text) for text in _metadata(archive).get_all("Requires-Dist") or []]


def _files_of(wheel, archive):
    """Entries and where they go: files of the package alone, since programs and headers are of no use here."""
    if sum(entry.file_size for entry in archive.infolist()) > _MAX_UNPACKED_BYTES:
        raise InstallError(f"{wheel.url} is larger than {_MAX_UNPACKED_BYTES} bytes unpacked")
    files = []
    for entry in archive.infolist():
        parts = entry.filename.split("/")
        if parts[0].endswith(".data"):
            if parts[1:2] not in (["purelib"], ["platlib"]):
                continue
            parts = parts[2:]
        if entry.is_dir() or not parts:
            continue
        if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
            raise InstallError(f"{wheel.url} holds a file outside of itself: {entry.filename!r}")
        files.append((entry, "/".join([_folder, *parts])))
    return files


def _unpack(archive, files):
    for entry, path in files:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with archive.open(entry) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target, 1024 * 1024)


def _remove(name):
    for one in _found():
        if normalized(one.metadata["Name"]) != name:
            continue
        files = [os.path.normpath(os.path.join(_folder, str(file))) for file in one.files or []]
        files = [path for path in files if path.startswith(f"{_folder}/") and os.path.isfile(path)]
        for path in files:
            os.remove(path)
        for folder in sorted({os.path.dirname(path) for path in files}, key=len, reverse=True):
            # One that is left empty would still be taken for a package, or for what is known of one.
            shutil.rmtree(f"{folder}/__pycache__", ignore_errors=True)
            while folder != _folder and not os.listdir(folder):
                os.rmdir(folder)
                folder = os.path.dirname(folder)


def _found():
    return [one for one in importlib.metadata.distributions(path=[_folder]) if one.metadata and one.metadata["Name"]]


def _read_requirements(path):
    with open(path) as lines:
        texts = [line.partition(" #")[0].strip() for line in lines]
    return [text for text in texts if text and not text.startswith(("#", "-"))]
