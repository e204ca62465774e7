"""The display classes of IPython that need nothing but the standard library."""

import base64
import html
import json
import pathlib
import urllib.parse

from notebridge_kernel.display import DisplayHandle, clear_output, display, update_display

__all__ = [
    *("HTML", "JSON", "SVG", "IFrame", "Image", "Javascript", "Latex", "Markdown", "Math"),
    *("DisplayHandle", "clear_output", "display", "update_display"),
]

_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
_NO_URL = "url is not supported here: the kernel has no network. Give data or filename"


class _Text:
    """Text of one mime type, given itself or by the name of a file."""

    mime_type = "text/plain"

    def __init__(self, data=None, url=None, filename=None, metadata=None):
        if url is not None:
            raise ValueError(_NO_URL)
        self.data = data if filename is None else pathlib.Path(filename).read_text(encoding="utf-8")
        self.metadata = metadata or {}

    def _repr_mimebundle_(self, include=None, exclude=None):
        about = {self.mime_type: self.metadata} if self.metadata else {}
        return {self.mime_type: self.data, "text/plain": repr(self)}, about

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"


class HTML(_Text):
    mime_type = "text/html"


class Markdown(_Text):
    mime_type = "text/markdown"


class SVG(_Text):
    mime_type = "image/svg+xml"


class Latex(_Text):
    mime_type = "text/latex"


class Math(Latex):
    def __init__(self, data=None, **options):
        super().__init__(f"$\\displaystyle {(data or '').strip('$')}$", **options)


class Javascript(_Text):
    mime_type = "application/javascript"


class JSON(_Text):
    mime_type = "application/json"

    def __init__(self, data=None, **options):
        super().__init__(data, **options)
        if isinstance(self.data, str):
            self.data = json.loads(self.data)


class Image:
    """A picture: bytes, a file, or a `url` that the page is asked to show."""

    def __init__(self, data=None, url=None, filename=None, format=None, embed=None, width=None, height=None, alt=None, metadata=None):
        if isinstance(data, str) and filename is None and url is None:
            data, url, filename = None, *((data, None) if "://" in data or data.startswith("data:") else (None, data))
        if filename is not None:
            data = pathlib.Path(filename).read_bytes()
        if data is None and url is None:
            raise ValueError("Image needs data, a filename or a url")
        self.data, self.url, self.alt = data, url, alt
        self.format = (format or _format_of(data or b"")).lower().replace("jpg", "jpeg")
        self.metadata = {**(metadata or {}), **{key: value for key, value in (("width", width), ("height", height)) if value is not None}}

    def _repr_mimebundle_(self, include=None, exclude=None):
        plain = {"text/plain": repr(self)}
        if self.data is None:
            attributes = {"src": self.url, **self.metadata, **({"alt": self.alt} if self.alt else {})}
            return {"text/html": f"<img {' '.join(f'{key}="{html.escape(str(value))}"' for key, value in attributes.items())}>", **plain}
        mime_type = "image/svg+xml" if self.format == "svg" else f"image/{self.format}"
        content = bytes(self.data)
        text = content.decode() if self.format == "svg" else base64.b64encode(content).decode()
        about = {**self.metadata, **({"alt": self.alt} if self.alt else {})}
        return {mime_type: text, **plain}, ({mime_type: about} if about else {})

    def __repr__(self):
        return "<IPython.core.display.Image object>"


class IFrame:
    """A page by its address: one that code has written beside the notebook, or below /tmp, is shown."""

    def __init__(self, src, width, height, extras=None, **params):
        self.src, self.width, self.height, self.extras, self.params = str(src), width, height, extras or [], params

    def _repr_html_(self):
        address = html.escape(self.src + (f"?{urllib.parse.urlencode(self.params)}" if self.params else ""))
        size = f'width="{self.width}" height="{self.height}"'
        return f'<iframe {size} src="{address}" frameborder="0" allowfullscreen {" ".join(self.extras)}></iframe>'

    def __repr__(self):
        return "<IPython.lib.display.IFrame object>"


def _format_of(data):
    return next((name for signature, name in _SIGNATURES.items() if bytes(data[:8]).startswith(signature)), "png")
