import type { CallOptions } from './client.js';

export interface Skill {
  name: string;
  description: string;
  [key: string]: unknown;
}

export interface SkillRun {
  /** It ran and ended with exit code 0. */
  success: boolean;
  /** What it wrote; of a script that failed, its error output if there is one. */
  output: string;
  stdout: string;
  stderr: string;
  exit_code: number | null;
  [key: string]: unknown;
}

/** Lists the skills: what each is for. */
export function list_skills(options?: CallOptions): Promise<Skill[]>;

/** Gives the instructions of a skill, with the names of its resources and scripts. */
export function load_skill(skill_name: string, options?: CallOptions): Promise<string>;

/** Reads a file that belongs to a skill: a text, or bytes. */
export function read_skill_resource<Value = unknown>(skill_name: string, resource_name: string, options?: CallOptions): Promise<Value>;

/** Runs a script that belongs to a skill, in the folder of the skill, and waits for its end. */
export function run_skill(skill_name: string, script_name: string, args?: readonly string[], options?: CallOptions): Promise<SkillRun>;
