"""Fits modules of Python and its packages when they are imported, since most cells import none of them."""

from importlib.machinery import PathFinder


class Fitted:
    """Fits modules once they are loaded, by whatever loads them."""

    def __init__(self, fits):
        self._fits = fits

    def find_spec(self, name, path=None, target=None):
        fit = self._fits.get(name)
        spec = PathFinder.find_spec(name, path, target) if fit else None
        if spec is None or spec.loader is None:
            return None
        spec.loader = _FittingLoader(spec.loader, fit)
        return spec


class _FittingLoader:
    """The loader of a module, which may be that of many others too."""

    def __init__(self, loader, fit):
        self._loader, self._fit = loader, fit

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._fit(module)
