import type { CallOptions } from './client.js';

export interface SkillScript {
  name: string;
  /** One line; empty if the script says nothing of itself. */
  description: string;
  /** What stands on its command line, as far as the script says it. */
  parameters?: { name: string; type?: string; description?: string; choices?: string; required?: true }[];
  returns?: string;
  usage?: string;
  /** Environment variables that it reads. */
  env_vars?: string[];
}

export interface Skill {
  name: string;
  description: string;
  scripts?: SkillScript[];
  resources?: { name: string }[];
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

/** Lists the skills: what each is for, and its scripts and resources. */
export function list_skills(options?: CallOptions): Promise<Skill[]>;

/** Gives the instructions of a skill, with the names of its resources and scripts. */
export function load_skill(skill_name: string, options?: CallOptions): Promise<string>;

/** Reads a file that belongs to a skill: a text, or bytes. */
export function read_skill_resource<Value = unknown>(skill_name: string, resource_name: string, options?: CallOptions): Promise<Value>;

/** Runs a script that belongs to a skill, in the folder of the skill, and waits for its end. */
export function run_skill(skill_name: string, script_name: string, args?: readonly string[], options?: CallOptions): Promise<SkillRun>;
