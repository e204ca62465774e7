"""`generated.skills`, over a real hub with a folder of skills."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Iterator

import pytest
from generated import client
from generated.skills import list_skills, load_skill, read_skill_resource, run_skill
from served_hub import ServedHub

SCRIPT = '''\"\"\"Counts its words.

Usage: python count.py [WORD...]

Environment:
    COUNT_LIMIT  How many at most.
\"\"\"
import argparse
parser = argparse.ArgumentParser(add_help=False)
parser.add_argument("words", nargs="*", help="What is counted")
parser.add_argument("--size", type=int, choices=["1", "2"])
'''
SCRIPT += "import sys; print('args', sys.argv[1:]); sys.exit(len(sys.argv) - 1)\n"


@pytest.fixture(scope="module")
def skilled(tmp_path_factory: Any) -> Iterator[ServedHub]:
    folder: Path = tmp_path_factory.mktemp("skills")
    skill = folder / "plotting"
    (skill / "scripts").mkdir(parents=True)
    (skill / "references").mkdir()
    (skill / "SKILL.md").write_text("---\nname: plotting\ndescription: Does plots.\n---\n# How to plot\n")
    (skill / "scripts" / "count.py").write_text(SCRIPT)
    (skill / "references" / "colours.md").write_text("red, green")
    with ServedHub({}, notebridge={"skills": [{"path": str(folder), "trusted": True}]}) as served:
        yield served


@pytest.fixture(autouse=True)
def owner_of_skills(skilled: ServedHub, nothing_set: None) -> None:
    client.configure(url=skilled.url, token=skilled.owner_token)


def both(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The value, which is the same with and without `await`."""
    value = function.sync(*args, **kwargs)
    assert asyncio.run(function(*args, **kwargs)) == value
    return value


def test_they_are_listed_as_objects() -> None:
    [skill] = both(list_skills)
    assert (skill["name"], skill["description"]) == ("plotting", "Does plots.")
    assert both(list_skills, {}) == [skill]
    assert skill["scripts"] == [
        {
            "name": "count",
            "description": "Counts its words.",
            "parameters": [
                {"name": "words", "description": "What is counted"},
                {"name": "size", "type": "int", "choices": "1, 2"},
            ],
            "usage": "python count.py [WORD...]",
            "env_vars": ["COUNT_LIMIT"],
        }
    ]
    assert skill["resources"] == [{"name": "references/colours.md"}]


def test_their_text_is_loaded_in_every_form_of_call() -> None:
    text = both(load_skill, "plotting")
    assert "# How to plot" in text
    assert both(load_skill, skill_name="plotting") == text
    assert both(load_skill, {"skill_name": "plotting"}) == text
    assert both(load_skill, arguments={"skill_name": "plotting"}) == text


def test_their_resources_are_read() -> None:
    for call in (("plotting", "references/colours.md"), ({"skill_name": "plotting", "resource_name": "references/colours.md"},)):
        assert both(read_skill_resource, *call) == "red, green"
    assert both(read_skill_resource, {"skill_name": "plotting"}, resource_name="references/colours.md") == "red, green"


def test_their_scripts_are_run() -> None:
    done = both(run_skill, "plotting", "count.py")
    assert (done["success"], done["exit_code"], done["stdout"].strip()) == (True, 0, "args []")
    done = both(run_skill, "plotting", "count.py", ["a", "b c"])
    assert (done["success"], done["exit_code"], done["stdout"].strip()) == (False, 2, "args ['a', 'b c']")
    assert both(run_skill, {"skill_name": "plotting", "script_name": "count.py", "args": ["x"]})["exit_code"] == 1
    assert both(run_skill, "plotting", "count.py", kwargs={"size": 3})["stdout"].strip() == "args ['--size', '3']"


def test_mistakes_are_said() -> None:
    with pytest.raises(client.ToolError, match="plotting") as raised:
        load_skill.sync("plottin")
    assert raised.value.server == "skills"
    with pytest.raises(TypeError, match="missing required argument: 'resource_name'"):
        read_skill_resource.sync("plotting")
    with pytest.raises(TypeError, match="no argument 'skill'"):
        load_skill.sync({"skill": "plotting", "skill_name": "plotting"})
    with pytest.raises(TypeError, match="list of texts"):
        run_skill.sync("plotting", "count.py", "--size 3")  # type: ignore[arg-type]


def test_a_caller_that_was_set_is_asked_too() -> None:
    seen = []

    def caller(name: str, arguments: Any) -> Any:
        seen.append((name, arguments))
        return [{"name": "mine", "description": "d"}] if name == "skills__list_skills" else "text of mine"

    client.set_tool_caller(caller)
    assert both(list_skills) == [{"name": "mine", "description": "d"}]
    assert both(load_skill, "mine") == "text of mine"
    assert seen[0] == ("skills__list_skills", {}) and seen[-1] == ("skills__load_skill", {"skill_name": "mine"})
