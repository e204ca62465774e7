/** A folder in which skills are looked for. */
export interface SkillFolder {
  /** Absolute. It may come to be later. */
  path: string;
  /** A folder above it that others may write to: then `path` is no more trusted than what is in it, and must not lead out of this one. */
  below?: string;
  /** Only scripts of trusted folders are run: anyone who can write to the folder can then run programs as the user. */
  trusted: boolean;
  /** How long one of its scripts may run, in milliseconds. */
  timeoutMs: number;
  /** What its scripts find in their environment, beside the few variables that every program needs. */
  env: Record<string, string>;
}
