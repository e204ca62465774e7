import type { JsonObject } from '@notebridge/protocol/json';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import type { SavedSkill } from './saved-skills.js';
import type { ScriptDescription } from './script-description.js';
import type { SkillScript } from './skill-files.js';
import type { Skill } from './skill-finder.js';

/** A skill with what can be asked for of it. */
export interface SkillDetails {
  skill: Skill;
  scripts: SkillScript[];
  resources: string[];
}

const longestDescription = 1024;

/** The list for people and models, in Markdown. `saved`: those that code has saved. */
export function toListText(
  details: readonly SkillDetails[],
  { problems, saved }: { problems: readonly string[]; saved: readonly SavedSkill[] },
): string {
  if (details.length + saved.length === 0) {
    const why = problems.length === 0 ? 'The skills folders of the config hold no SKILL.md.' : problems.join('\n');
    return `# Skills\n\nThere are no skills. ${why}\n`;
  }
  const items = details.map(({ skill, scripts }) => {
    const description = oneLine(skill.description).slice(0, longestDescription);
    const runnable = skill.source.trusted ? '' : ' (not trusted: not run)';
    const names = scripts.length === 0 ? '' : `\n  Scripts${runnable}: ${scripts.map(({ name }) => `\`${name}\``).join(', ')}`;
    return `- **${skill.name}**: ${description}${names}`;
  });
  appendAll(
    items,
    saved.map(
      ({ name, description }) => `- **${name}**: ${oneLine(description)}\n  Saved by code: \`await run_skill("${name}", kwargs={…})\``,
    ),
  );
  return `# Skills\n\n${items.join('\n')}\n\nRead one with \`load_skill\` before you use it.\n`;
}

/** The same for programs, with what each script says of itself. */
export function toListEntry({ skill, scripts, resources }: SkillDetails, descriptions: readonly ScriptDescription[]): JsonObject {
  return {
    name: skill.name,
    description: skill.description,
    ...(skill.license === undefined ? {} : { license: skill.license }),
    ...(skill.compatibility === undefined ? {} : { compatibility: skill.compatibility }),
    allowed_tools: skill.allowedTools,
    metadata: skill.metadata,
    ...skill.others,
    trusted: skill.source.trusted,
    scripts: scripts.map(({ name }, index) => ({ name, ...(descriptions[index] ?? { description: '' }) })),
    resources: resources.map((name) => ({ name })),
    problems: skill.problems,
  };
}

export function toSavedEntry({ name, description, tags }: SavedSkill): JsonObject {
  const scripts = [{ name: 'run', description }];
  return {
    name,
    description,
    tags: [...tags],
    saved: true,
    allowed_tools: [],
    metadata: {},
    trusted: true,
    scripts,
    resources: [],
    problems: [],
  };
}

/** A skill's instructions, below what else there is of it. */
export function toSkillText({ skill, scripts, resources }: SkillDetails, instructions: string): string {
  const lines = [`# Skill: ${skill.name}`, '', oneLine(skill.description), ''];
  const add = (label: string, text: string | undefined): void => {
    if (text !== undefined && text !== '') lines.push(`- ${label}: ${text}`);
  };
  add('License', skill.license);
  add('Compatibility', skill.compatibility);
  add('Allowed tools', skill.allowedTools.join(', '));
  add(
    'Metadata',
    Object.entries(skill.metadata)
      .map(([key, value]) => `${key}=${oneLine(value)}`)
      .join(', '),
  );
  add('Resources (`read_skill_resource`)', toNames(resources));
  const runnable = skill.source.trusted ? '`run_skill_script`' : 'not trusted: they are not run';
  add(`Scripts (${runnable})`, toNames(scripts.map(({ name }) => name)));
  return `${lines.join('\n').trimEnd()}\n\n---\n\n${instructions}\n`;
}

function toNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
