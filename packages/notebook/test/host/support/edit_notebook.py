"""Edits a notebook file with Python's real nbformat, as another program would. Path and a JSON list of edits as arguments."""

import json
import sys

import nbformat

path, edits = sys.argv[1], json.loads(sys.argv[2])
notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
cells = notebook.cells


def place_of(cell_id):
    return next(index for index, cell in enumerate(cells) if cell.id == cell_id)


for edit in edits:
    match edit["do"]:
        case "update":
            cells[place_of(edit["id"])].source = edit["source"]
        case "delete":
            del cells[place_of(edit["id"])]
        case "insert":
            cells.insert(edit["index"], nbformat.v4.new_markdown_cell(edit["source"], id=edit["id"]))
        case "move":
            cells.insert(edit["index"], cells.pop(place_of(edit["id"])))
        case "metadata":
            notebook.metadata.update(edit["metadata"])
        case "output":
            cells[place_of(edit["id"])].outputs = [nbformat.v4.new_output("stream", name="stdout", text=edit["text"])]
nbformat.write(notebook, path)
