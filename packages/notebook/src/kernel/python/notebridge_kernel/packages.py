"""What is said of packages, which this Python does not have and cannot get: the ways out."""

import sys

#: Packages that are known, by the names by which they are imported, and installed. Of others nobody is told to install them: a name that
#: was only guessed may be somebody's trap.
_KNOWN = {
    **{name: name for name in ("altair", "bokeh", "httpx", "ipywidgets", "matplotlib", "networkx", "numpy", "openpyxl", "pandas", "plotly")},
    **{name: name for name in ("polars", "pyarrow", "requests", "scipy", "seaborn", "statsmodels", "sympy", "torch", "tqdm", "xarray")},
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "PIL": "pillow",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
#: Of these the ones that are pure Python, with all that they need, and do their work without sockets.
_PURE = ("networkx", "openpyxl", "plotly", "requests", "sympy", "tqdm", "beautifulsoup4", "python-dateutil", "python-dotenv")
_OURS = ("generated", "notebridge_kernel")

#: And of these the ones with parts in C: no index has them for this Python.
COMPILED = ("numpy", "pandas", "matplotlib", "scipy", "scikit-learn", "scikit-image", "torch", "polars", "pyarrow", "statsmodels", "pillow", "opencv-python")
#: What lets packages of the usual index in.
NETWORK = "--allow-net pypi.org --allow-net files.pythonhosted.org"

ADVICE = (
    "This Python is Pyodide, with the standard library and nothing else. Packages are there in a Python of your own, which code of an agent reaches by a notebook: "
    "press \"Use it\" or the kernel's name in the window, or in a terminal: notebridge notebook FILE.ipynb --kernel PATH/TO/python"
)


def advise(error):
    """Adds to the error of a missing package where there is one."""
    if type(error) is not ModuleNotFoundError or not isinstance(error.name, str):
        return
    name = error.name.partition(".")[0]
    if not name or name in _OURS or name in sys.modules or name in sys.stdlib_module_names or getattr(error, "__notes__", None):
        return
    # Pyodide's own text names a function that is not here.
    error.msg = f"No module named {error.name!r}"
    error.args = (error.msg,)
    had = f". Where that one lacks it: PATH/TO/python -m pip install {_KNOWN[name]}" if name in _KNOWN else ""
    pure = f". Or here, since it is pure Python: %pip install {_KNOWN[name]}, with {NETWORK}" if _KNOWN.get(name) in _PURE else ""
    error.add_note(ADVICE + had + pure)
