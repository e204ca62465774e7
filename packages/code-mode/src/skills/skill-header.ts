import { type FrontmatterValue, parseFrontmatter } from './frontmatter.js';

/** What a SKILL.md says of its skill before the instructions (https://agentskills.io/specification, and older forms). */
export interface SkillHeader {
  name: string;
  description: string;
  license: string | undefined;
  compatibility: string | undefined;
  /** Tools that the skill's author would have it use. */
  allowedTools: string[];
  metadata: Record<string, string>;
  /** Fields that the format does not have: `version`, `tags`, `author`, … of older skills. */
  others: Record<string, FrontmatterValue>;
  /** What is not as the format wants it; the skill is used all the same. */
  problems: string[];
}

/** Reads a SKILL.md. What is missing is taken from the folder's name and the first paragraph. */
export function parseSkillFile(text: string, folderName: string): { header: SkillHeader; instructions: string } {
  const { fields, body, problems } = parseFrontmatter(text);
  const take = (key: string): FrontmatterValue | undefined => {
    const value = fields.get(key);
    fields.delete(key);
    return value;
  };
  const name = oneLine(take('name'));
  const description = toText(take('description'));
  const compatibility = toText(take('compatibility'));
  const metadata = take('metadata') ?? {};
  const header: SkillHeader = {
    name: isUsableName(name) ? name : folderName,
    description: description || firstParagraph(body),
    license: toText(take('license')) || undefined,
    compatibility: compatibility || undefined,
    allowedTools: toTools(take('allowed-tools')),
    metadata: typeof metadata === 'object' && !Array.isArray(metadata) ? metadata : { value: toText(metadata) },
    // Fields that nobody has taken by now.
    others: Object.fromEntries(fields),
    problems: [...problems, ...nameProblems(name, folderName), ...lengthProblems({ description, compatibility })],
  };
  return { header, instructions: body };
}

const longestName = 64;

function isUsableName(name: string): boolean {
  return name !== '' && name.length <= longestName && !/[/\\\p{Cc}]/u.test(name);
}

function nameProblems(name: string, folderName: string): string[] {
  if (name === '') return ['has no "name"; that of the folder is used'];
  if (!isUsableName(name)) return ['has a "name" that cannot be used; that of the folder is used'];
  const problems = [];
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) problems.push('has a "name" that is not of small letters, digits and single hyphens');
  if (name !== folderName) problems.push('has a "name" that is not that of its folder');
  return problems;
}

function lengthProblems({ description, compatibility }: { description: string; compatibility: string }): string[] {
  const problems = [];
  if (description === '') problems.push('has no "description"; the first paragraph is used');
  if (description.length > 1024) problems.push('has a "description" of more than 1024 characters');
  if (compatibility.length > 500) problems.push('has a "compatibility" of more than 500 characters');
  return problems;
}

/** Separated by spaces, by commas, or a list; `Bash(git add:*)` is one. */
function toTools(value: FrontmatterValue | undefined): string[] {
  if (Array.isArray(value)) return value;
  return toText(value).match(/[^\s,()]+(?:\([^)]*\))?/g) ?? [];
}

function toText(value: FrontmatterValue | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : Array.isArray(value) ? value.join(', ') : JSON.stringify(value);
}

function oneLine(value: FrontmatterValue | undefined): string {
  return toText(value).replaceAll(/\s+/g, ' ').trim();
}

function firstParagraph(body: string): string {
  const paragraph = body.split(/\n\s*\n/).find((part) => part.trim() !== '' && !part.trim().startsWith('#')) ?? '';
  return paragraph.replaceAll(/\s+/g, ' ').trim().slice(0, 1024);
}
