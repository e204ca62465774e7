"""What tools return, from the tool to Python."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from generated import _calls, client
from generated._media import Blocks, Media, ResourceLink, Text
from served_hub import ServedHub

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}

with open(os.environ["NOTEBRIDGE_TEST_VALUES"], encoding="utf-8") as table:
    RETURN_VALUES = json.load(table)


def give(result: Any) -> client.ToolResult:
    """What comes of a tool's result, which is given as it is printed."""
    text = result if isinstance(result, str) else json.dumps(result)
    return _calls.call_sync("values", "give", {"result": text})


def as_sent(value: Any) -> Any:
    """A value with its blocks as the server sent them."""
    if isinstance(value, (Media, ResourceLink)):
        return [value.block]
    if isinstance(value, Blocks):
        return [each.block if isinstance(each, (Media, ResourceLink, Text)) else each for each in value]
    return value


@pytest.mark.parametrize("case", RETURN_VALUES, ids=[case["name"] for case in RETURN_VALUES])
def test_value(owner: ServedHub, case: Any) -> None:
    result = give(case["given"])
    # Printed again, so that 1 is not True, and -0.0 not 0.0.
    assert repr(as_sent(result.value)) == repr(json.loads(case["result"]))
    assert not result.is_error
    if case.get("content"):
        assert result.content == json.loads(case["content"])


def test_the_table_has_more_than_forty() -> None:
    assert len(RETURN_VALUES) >= 40


def test_a_lone_image_is_an_image_that_a_notebook_shows(owner: ServedHub, tmp_path: Any) -> None:
    image = give({"content": [IMAGE]}).value
    assert isinstance(image, client.Image)
    assert image.mime_type == "image/png"
    assert image.data[:8] == b"\x89PNG\r\n\x1a\n" and bytes(image) == image.data
    assert image._repr_png_() == image.data
    assert image._repr_jpeg_() is None and image._repr_svg_() is None
    assert image._repr_mimebundle_()["image/png"] == PNG
    assert image.save(tmp_path / "one.png") == str(tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes() == image.data
    assert repr(image) == f"<Image image/png, {len(image.data)} bytes>"
    assert image == give({"content": [IMAGE]}).value


def test_formats_of_images(owner: ServedHub) -> None:
    jpeg = give({"content": [{"type": "image", "data": "/9j/", "mimeType": "image/jpeg"}]}).value
    assert jpeg._repr_jpeg_() == b"\xff\xd8\xff" and jpeg._repr_png_() is None
    svg = give({"content": [{"type": "image", "data": "PHN2Zy8+", "mimeType": "image/svg+xml"}]}).value
    assert svg._repr_svg_() == "<svg/>" and svg._repr_mimebundle_()["image/svg+xml"] == "<svg/>"


def test_audio_blob_text_and_link(owner: ServedHub) -> None:
    audio = give({"content": [{"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}]}).value
    assert isinstance(audio, client.Audio) and audio.data == b"RIFF"
    assert '<audio controls src="data:audio/wav;base64,UklGRg==">' in audio._repr_mimebundle_()["text/html"]
    blob = give({"content": [{"type": "resource", "resource": {"uri": "file:///b", "blob": "AAEC"}}]}).value
    assert isinstance(blob, client.Blob)
    assert (blob.data, blob.uri, blob.mime_type) == (b"\x00\x01\x02", "file:///b", "application/octet-stream")
    text = give({"content": [{"type": "resource", "resource": {"uri": "file:///t", "text": "hé", "mimeType": "text/x-y"}}]}).value
    assert (text.text, text.data, text.mime_type) == ("hé", "hé".encode(), "text/x-y")
    link = give({"content": [{"type": "resource_link", "uri": "file:///a", "name": "a", "x-kept": 1}]}).value
    assert isinstance(link, client.ResourceLink) and (link.uri, link.name, link.block["x-kept"]) == ("file:///a", "a", 1)


def test_a_mixed_list_is_a_list_of_texts_and_objects_that_a_notebook_shows(owner: ServedHub) -> None:
    value = give({"content": [{"type": "text", "text": "<b>see</b>"}, IMAGE]}).value
    assert isinstance(value, list) and value[0] == "<b>see</b>" and isinstance(value[1], client.Image)
    shown = value._repr_mimebundle_()["text/html"]
    assert "&lt;b&gt;see" in shown and f'<img src="data:image/png;base64,{PNG}">' in shown


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": 5, "mimeType": "image/png"},
        {"type": "image", "data": PNG},
        {"type": "resource", "resource": "file:///b"},
        {"type": "resource", "resource": {"uri": "file:///b"}},
        {"type": "resource_link"},
        {"type": "hologram", "depth": 3.0},
    ],
)
def test_a_malformed_or_unknown_block_stays_what_it_is(owner: ServedHub, block: Any) -> None:
    assert give({"content": [block]}).value == [block]


def test_a_mime_type_cannot_break_out_of_html(owner: ServedHub) -> None:
    evil = 'audio/"><script>alert(1)</script>'
    audio = give({"content": [{"type": "audio", "data": '"><script>', "mimeType": evil}]}).value
    assert "<script>" not in audio._repr_mimebundle_()["text/html"]
    page = give({"content": [{"type": "resource", "resource": {"uri": "a", "text": "<script>", "mimeType": "text/html"}}]}).value
    assert "text/html" not in page._repr_mimebundle_()


def test_a_value_with_a_picture_beside_it_keeps_both(owner: ServedHub) -> None:
    result = give({"content": [IMAGE], "structuredContent": {"a": 1}, "_meta": {"x/y": 1}})
    assert result.value == {"a": 1} and result.structured == {"a": 1}
    assert result.content == [IMAGE] and result.meta == {"x/y": 1}
    assert PNG in result._repr_mimebundle_()["text/html"]


def test_a_tool_that_gave_no_blocks_gives_an_empty_list_that_shows_nothing(owner: ServedHub, capsys: Any) -> None:
    nothing = give({"content": []})
    assert (nothing.value, nothing.content, nothing.structured) == ([], [], None)
    nothing.value._ipython_display_()
    nothing._ipython_display_()
    assert capsys.readouterr().out == ""
    empty = give({"content": [], "structuredContent": {"result": []}})
    assert (type(empty.value), empty.value, empty.structured) == (list, [], [])


def test_content_is_there_also_where_the_value_says_it_all(owner: ServedHub) -> None:
    assert give({"content": [{"type": "text", "text": "hello"}]}).content == [{"type": "text", "text": "hello"}]
    assert give({}).content == []


def test_a_tool_that_failed_raises_what_it_said(owner: ServedHub) -> None:
    given = {"isError": True, "content": [{"type": "text", "text": "broken"}, IMAGE], "structuredContent": {"code": 7}}
    with pytest.raises(RuntimeError, match=r"give \(values\): broken") as raised:
        give(given)
    error = raised.value
    assert isinstance(error, client.ToolError)
    assert (error.server, error.tool, error.code) == ("values", "give", "tool_failed")
    assert error.content == given["content"] and error.structured == {"code": 7} and error.call_id
    with pytest.raises(client.ToolError, match="did not say why"):
        give({"isError": True, "content": []})


def test_a_protocol_error_brings_its_data(owner: ServedHub) -> None:
    with pytest.raises(client.ToolError, match="said no") as raised:
        client.call_tool_sync("values__refuses", {"field": "path", "allowed": [1, "é"]})
    assert raised.value.data == {"field": "path", "allowed": [1, "é"]}
    with pytest.raises(client.ToolError) as without:
        give({"isError": True, "content": []})
    assert without.value.data is None


def test_an_error_survives_pickling() -> None:
    import copy
    import pickle

    error = client.ToolError("text", server="s", tool="t", code="denied", content=[1], structured={"a": 1}, call_id="c")
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(same), same.__dict__) == ("text", error.__dict__)
