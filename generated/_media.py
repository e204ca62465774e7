"""Results of tools other than text: images, audio, files and links, as objects that a notebook shows."""

from __future__ import annotations

import base64
import html
import importlib
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

Block = Mapping[str, Any]

#: Types that a notebook shows directly; binary formats are passed in base64.
_TEXT_FORMATS = ("image/svg+xml", "text/html", "text/markdown", "text/plain")


class Media:
    """Bytes with a type. A notebook shows it; `save` writes it to a file."""

    #: The content block as the server sent it.
    block: Block
    mime_type: str

    def __init__(self, block: Block, data: Union[str, bytes], mime_type: str) -> None:
        self.block = block
        self.mime_type = mime_type
        self._encoded = data if isinstance(data, str) else base64.b64encode(data).decode("ascii")

    @property
    def data(self) -> bytes:
        """The bytes."""
        return base64.b64decode(self._encoded)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Writes the bytes to a file, replacing what is there; returns its path."""
        with open(path, "wb") as file:
            file.write(self.data)
        return os.fspath(path)

    def __bytes__(self) -> bytes:
        return self.data

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Media) and self.block == other.block

    def __hash__(self) -> int:
        return hash((self.mime_type, self._encoded))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.mime_type}, {_size_of(self._encoded)} bytes>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Dict[str, str]:
        kind = self.mime_type.split(";", 1)[0].strip().lower()
        bundle = {"text/plain": repr(self)}
        if kind in _TEXT_FORMATS and kind != "text/plain":
            # HTML of a server is untrusted: it is shown as text.
            if kind == "image/svg+xml":
                bundle[kind] = self.data.decode("utf-8", "replace")
        elif kind.startswith("image/"):
            bundle[kind] = self._encoded
        elif kind.startswith(("audio/", "video/")):
            bundle["text/html"] = f'<{kind[:5]} controls src="data:{html.escape(kind)};base64,{html.escape(self._encoded)}"></{kind[:5]}>'
        return bundle


class Image(Media):
    """A picture."""

    def _repr_png_(self) -> Optional[bytes]:
        return self.data if self.mime_type == "image/png" else None

    def _repr_jpeg_(self) -> Optional[bytes]:
        return self.data if self.mime_type == "image/jpeg" else None

    def _repr_svg_(self) -> Optional[str]:
        return self.data.decode("utf-8", "replace") if self.mime_type == "image/svg+xml" else None


class Audio(Media):
    """Sound."""


class Blob(Media):
    """The content of a resource: a file, with the address under which the server knows it."""

    def __init__(self, block: Block, resource: Block) -> None:
        blob, text = resource.get("blob"), resource.get("text")
        mime_type = resource.get("mimeType")
        is_text = isinstance(text, str)
        super().__init__(
            block,
            blob if isinstance(blob, str) else str(text or "").encode("utf-8", "surrogatepass"),
            mime_type if isinstance(mime_type, str) else "text/plain" if is_text else "application/octet-stream",
        )
        uri = resource.get("uri")
        self.uri: str = uri if isinstance(uri, str) else ""
        self._text: Optional[str] = text if isinstance(text, str) else None

    @property
    def text(self) -> str:
        """The content as text. Bytes that are no UTF-8 raise `UnicodeDecodeError`."""
        return self.data.decode("utf-8") if self._text is None else self._text

    def __repr__(self) -> str:
        return f"<Blob {self.uri or 'without a URI'}, {self.mime_type}, {_size_of(self._encoded)} bytes>"


class ResourceLink:
    """The address of a resource that the server has; its content was not sent."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.uri: str = str(block.get("uri", ""))
        self.name: str = str(block.get("name", ""))
        self.title: Optional[str] = _text_or_none(block.get("title"))
        self.description: Optional[str] = _text_or_none(block.get("description"))
        self.mime_type: Optional[str] = _text_or_none(block.get("mimeType"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResourceLink) and self.block == other.block

    def __hash__(self) -> int:
        return hash(self.uri)

    def __repr__(self) -> str:
        return f"<ResourceLink {self.uri}>"


class Text(str):
    """A text among other blocks: a `str` that knows the block in which it came."""

    block: Block


class Blocks(List[Any]):
    """What a tool returned in several blocks. A notebook shows each of them."""

    def _ipython_display_(self) -> None:
        show(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Dict[str, str]:
        return bundle_of(self, repr(self))


def to_value(blocks: Sequence[Any]) -> Any:
    """Content blocks as objects: the object itself if there is but one that we know, else the list of them."""
    values = Blocks(to_object(block) for block in blocks)
    if len(values) == 1 and isinstance(values[0], (Media, ResourceLink)):
        return values[0]
    return values


def to_object(block: Any) -> Any:
    """A block as an object; one of a kind that we do not know, or that is malformed, stays as it is."""
    if not isinstance(block, dict):
        return block
    kind, data, mime_type = block.get("type"), block.get("data"), block.get("mimeType")
    if kind == "text" and isinstance(block.get("text"), str):
        text = Text(block["text"])
        text.block = block
        return text
    if kind in ("image", "audio") and isinstance(data, str) and isinstance(mime_type, str):
        return Image(block, data, mime_type) if kind == "image" else Audio(block, data, mime_type)
    resource = block.get("resource")
    if kind == "resource" and isinstance(resource, dict) and isinstance(resource.get("blob", resource.get("text")), str):
        return Blob(block, resource)
    if kind == "resource_link" and isinstance(block.get("uri"), str):
        return ResourceLink(block)
    return block


def are_blocks(value: Any) -> bool:
    """True for a list of content blocks of which one at least is no text."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in value) and not all(
        block["type"] == "text" for block in value
    )


def show(values: Sequence[Any]) -> None:
    """Shows each value in the notebook; outside of one, prints it."""
    try:
        display: Any = importlib.import_module("IPython.display").display
    except ImportError:
        display = print
    for value in values:
        display(str(value) if isinstance(value, Text) else value)


def bundle_of(values: Sequence[Any], plain: str) -> Dict[str, str]:
    """All values in one output: a lone picture as itself, several as HTML."""
    media = [value for value in values if isinstance(value, Media)]
    if not media:
        return {"text/plain": plain}
    if len(media) == 1 and len(values) == 1:
        return {**media[0]._repr_mimebundle_(), "text/plain": plain}
    return {"text/plain": plain, "text/html": "".join(_to_html(value) for value in values)}


def _to_html(value: Any) -> str:
    if isinstance(value, Media):
        bundle = value._repr_mimebundle_()
        if "text/html" in bundle:
            return f"<div>{bundle['text/html']}</div>"
        kind = value.mime_type.split(";", 1)[0].strip().lower()
        if kind.startswith("image/"):
            return f'<div><img src="data:{html.escape(kind)};base64,{html.escape(value._encoded)}"></div>'
    return f"<pre>{html.escape(str(value))}</pre>"


def _size_of(encoded: str) -> int:
    return len(encoded) * 3 // 4 - encoded.endswith("=") - encoded.endswith("==")


def _text_or_none(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None
