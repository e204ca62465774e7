import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import type { JsonObject } from '@notebridge/protocol/json';

/** Code that was kept under a name, as a search shows it. */
export interface SavedSkill {
  name: string;
  description: string;
  tags: readonly string[];
}

/** What stands in the folder of a saved skill. */
export interface SavedSkillFiles {
  /** The SKILL.md. */
  document: string;
  code: string;
  /** Empty: it has none. */
  tests: string;
}

/** The saved skills, for code of `execute_code`: all other callers of the server `skills` see none, and save none. */
export interface SavedSkillShelf {
  /** Those that the code of this call may use, no name twice. */
  seenBy(context: CallContext): readonly SavedSkill[];
  /** Rejects with `skill_changed` if its files are not those that were saved. */
  open(skill: SavedSkill): Promise<SavedSkillFiles>;
  /** Answers `save_skill`. `taken`: names that other skills have. */
  save(args: JsonObject, context: CallContext, taken: readonly string[]): Promise<ToolResult>;
  /** Answers `delete_skill`. */
  remove(args: JsonObject, context: CallContext): Promise<ToolResult>;
}
