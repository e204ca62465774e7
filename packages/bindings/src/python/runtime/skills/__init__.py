"""Agent Skills of the hub: instructions, resources and scripts for particular tasks.

    from generated.skills import list_skills, load_skill
    for skill in await list_skills(): print(skill["name"], skill["description"])
    print(await load_skill("pdf-forms"))

In code mode `save_skill` keeps code that worked, and `run_skill` runs it again.
"""

from __future__ import annotations

from .delete_skill import delete_skill
from .list_skills import list_skills
from .load_skill import load_skill
from .read_skill_resource import read_skill_resource
from .run_skill import run_skill
from .save_skill import save_skill

__all__ = ["delete_skill", "list_skills", "load_skill", "read_skill_resource", "run_skill", "save_skill"]
