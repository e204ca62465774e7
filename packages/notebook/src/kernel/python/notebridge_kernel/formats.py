"""What a value looks like: the mime bundle and its metadata, in the form that nbformat takes."""

import base64
import json
import sys

from .pretty import pretty

_METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "text/latex": "_repr_latex_",
    "application/json": "_repr_json_",
}
# A page and a file hold outputs as one text: past this a picture is a mistake, and could end the worker.
_MAX_CHARACTERS = 32 * 1024 * 1024


def mime_bundle(value, include=None, exclude=None):
    """Answers (data, metadata). What a class gives wrongly is left out and said on stderr; the rest still shows."""
    data, metadata = {}, {}
    _add_bundle(value, data, metadata, include, exclude)
    for mime_type, method in _METHODS.items():
        if mime_type not in data and _wanted(mime_type, include, exclude):
            _add(data, metadata, mime_type, _call(value, method))
    if "text/plain" not in data and _wanted("text/plain", include, exclude):
        _add(data, metadata, "text/plain", pretty(value))
    return data, metadata


def clean(text):
    """Half a surrogate pair can't be written to a file: shown as an escape."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()


def checked_bundle(data, metadata):
    """The same for what a cell hands to `display(raw=True)` or `update_display`."""
    good, about = {}, {}
    for mime_type, content in data.items():
        _add(good, about, str(mime_type), content)
    about.update({key: value for key, value in (metadata or {}).items() if _is_json(value)})
    return good, about


def _add_bundle(value, data, metadata, include, exclude):
    answer = _call(value, "_repr_mimebundle_", include=include, exclude=exclude)
    bundle, about = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)
    if not isinstance(bundle, dict):
        return
    good, about = checked_bundle(bundle, about if isinstance(about, dict) else None)
    data.update({key: content for key, content in good.items() if _wanted(key, include, exclude)})
    metadata.update(about)


def _call(value, name, **options):
    """Asked of the class, as Python asks for its own special methods: an object that answers to every name has none of these."""
    method = getattr(type(value), name, None)
    if method is None or isinstance(value, type):
        return None
    try:
        return method(value, **options)
    except NotImplementedError:
        return None
    except Exception as error:
        _warn(f"{type(value).__name__}.{name} failed: {type(error).__name__}: {error}")
        return None


def _add(data, metadata, mime_type, content):
    if content is None:
        return
    if isinstance(content, tuple) and len(content) == 2 and isinstance(content[1], dict):
        content, about = content
        if _is_json(about):
            metadata[mime_type] = about
    text = _to_text(mime_type, content)
    if text is not None:
        data[mime_type] = text


def _to_text(mime_type, content):
    """What nbformat takes: a text, for pictures in base64; or any JSON value where the type is JSON."""
    if mime_type == "application/json" or mime_type.endswith("+json"):
        return content if _is_json(content) else _warn(f"{mime_type}: the value is not JSON; it is not shown")
    if isinstance(content, (bytes, bytearray, memoryview)):
        is_binary = mime_type.startswith(("image/", "application/"))
        content = base64.b64encode(content).decode() if is_binary else bytes(content).decode("utf-8", "replace")
    if not isinstance(content, str):
        return _warn(f"{mime_type}: a {type(content).__name__} where a text belongs; it is not shown")
    if len(content) > _MAX_CHARACTERS:
        return _warn(f"{mime_type}: {len(content):,} characters are too many to show (at most {_MAX_CHARACTERS:,})")
    return clean(content)


def _is_json(value):
    try:
        return len(json.dumps(value, allow_nan=False)) <= _MAX_CHARACTERS
    except (TypeError, ValueError, RecursionError):
        return False


def _wanted(mime_type, include, exclude):
    return (not include or mime_type in include) and mime_type not in (exclude or ())


def _warn(message):
    print(message, file=sys.stderr)
