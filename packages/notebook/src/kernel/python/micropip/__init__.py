"""The part of `micropip` that notebooks of Pyodide use: pure wheels of an index, by way of the host."""

from notebridge_kernel import installer as _installer
from notebridge_kernel.package_index import INDEX as _INDEX

__all__ = ["install", "list"]


async def install(requirements, keep_going=False, deps=True, credentials=None, pre=False, index_urls=None, **others):
    """Installs packages, as `%pip install` does. `index_urls`: the first one counts."""
    wanted = [requirements] if isinstance(requirements, str) else [*requirements]
    index = index_urls if isinstance(index_urls, str) else (index_urls or [_INDEX])[0]
    await _installer.install(wanted, index=index.removesuffix("/json"), no_deps=not deps, pre=pre)


def list():
    """Name and version of what was installed."""
    return dict(_installer.installed())
