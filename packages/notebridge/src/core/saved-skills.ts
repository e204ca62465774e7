import type { Principal } from './principal.js';

/** Code that was kept under a name, as a search shows it. */
export interface SavedSkill {
  name: string;
  description: string;
  tags: readonly string[];
}

/** The skills that a search finds beside the tools. */
export interface SavedSkills {
  /** Another array when they are others. */
  all(): readonly SavedSkill[];
  /** Whether the principal may know of it. */
  maySee(principal: Principal, skill: SavedSkill): boolean;
}
