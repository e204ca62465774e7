import type { JsonObject } from '@notebridge/kit/json';
import { type Logger, silentLogger } from '@notebridge/kit/logger';
import type { CallContext } from '../core/call-context.js';
import { BridgeError } from '../core/errors.js';
import type { ToolResult } from '../core/mcp.js';
import type { SkillFolder } from '../core/skill-folder.js';
import type { ToolServer } from '../core/tool-server.js';
import { quote } from '../util/quote.js';
import { BuiltInServer } from './built-in-server.js';
import { ScriptReader } from './script-reader.js';
import { findByName, notFound, SkillFault } from './skill-fault.js';
import { listResources, listScripts } from './skill-files.js';
import { loadHeaderParser, readInstructions, type Skill, SkillFinder } from './skill-finder.js';
import { readResource } from './skill-resource.js';
import { runScript } from './skill-script.js';
import { type SkillDetails, toListEntry, toListText, toSkillText } from './skill-texts.js';
import { type SkillToolName, skillTools } from './skill-tools.js';
import { toStringResult } from './string-result.js';

export interface SkillsServerOptions {
  folders: readonly SkillFolder[];
  logger?: Logger;
  /** The largest resource that is read. Default 8 MiB. */
  maxResourceBytes?: number;
  /** What is kept of each output of a script. Default 1 MiB. */
  maxOutputBytes?: number;
  /** Scripts that run at once; one more is refused. Default 16. */
  maxScripts?: number;
}

/** The server `skills` over folders of the config. */
export interface SkillsServer extends ToolServer {
  /** Takes other folders from the next call on, as after an edit of the config. */
  setFolders(folders: readonly SkillFolder[]): void;
  /** Ends the scripts that run, and waits for their end; later ones are refused. Closing twice is harmless. */
  close(): Promise<void>;
}

/** Under this key of `_meta`, `list_skills` gives its list as objects. */
export const skillsMetaKey = 'notebridge/skills';

/** Serves the skills that are found in some folders. They are looked for anew in each call, so an edit needs no restart. */
export function createSkillsServer(options: SkillsServerOptions): SkillsServer {
  const shelf = new Shelf(options);
  const server = new BuiltInServer((tool, args, context) => shelf.run(tool, args, context));
  return Object.assign(server, { setFolders: shelf.setFolders.bind(shelf), close: shelf.close.bind(shelf) });
}

const mostReports = 1000;

class Shelf {
  readonly #options: Required<SkillsServerOptions>;
  readonly #finder = new SkillFinder();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #reported = new Set<string>();
  #folders: readonly SkillFolder[];

  constructor(options: SkillsServerOptions) {
    const defaults = { logger: silentLogger, maxResourceBytes: 8_388_608, maxOutputBytes: 1_048_576, maxScripts: 16 };
    this.#options = { ...defaults, ...options };
    this.#folders = options.folders;
  }

  setFolders(folders: readonly SkillFolder[]): void {
    this.#folders = folders;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }

  async run(tool: string, args: JsonObject, context: CallContext): Promise<ToolResult> {
    const known = skillTools.find(({ name }) => name === tool);
    if (known === undefined) {
      const names = skillTools.map(({ name }) => name).join(', ');
      throw new BridgeError('unknown_tool', `Unknown skill tool: ${quote(tool)}. Available: ${names}.`);
    }
    try {
      return await this.#runKnown(known.name, args, context);
    } catch (error) {
      if (error instanceof SkillFault) return error.toResult();
      throw error;
    }
  }

  async #runKnown(tool: SkillToolName, args: JsonObject, context: CallContext): Promise<ToolResult> {
    switch (tool) {
      case 'list_skills':
        return this.#list();
      case 'load_skill':
        return this.#load(await this.#findSkill(args));
      case 'read_skill_resource':
        return readResource(await this.#findSkill(args), toName(args, 'resource_name'), this.#options.maxResourceBytes);
      case 'run_skill_script':
        return this.#runScript(args, context);
    }
  }

  async #list(): Promise<ToolResult> {
    const { skills, problems } = await this.#find();
    const details = await Promise.all(skills.map(toDetails));
    const reader = new ScriptReader();
    const entries: JsonObject[] = [];
    for (const each of details) entries.push(toListEntry(each, await reader.describe(each.skill, each.scripts)));
    return { ...toStringResult(toListText(details, { problems })), _meta: { [skillsMetaKey]: entries } };
  }

  async #load(skill: Skill): Promise<ToolResult> {
    const file = await readInstructions(skill.folder, skill.file);
    if (file.kind === 'fault') throw new SkillFault('invalid_arguments', file.why);
    const { parseSkillFile } = await loadHeaderParser();
    return toStringResult(toSkillText(await toDetails(skill), parseSkillFile(file.text, skill.folder.name).instructions));
  }

  async #runScript(args: JsonObject, context: CallContext): Promise<ToolResult> {
    const skill = await this.#findSkill(args);
    const scriptName = toName(args, 'script_name');
    if (this.#closing.signal.aborted) throw new BridgeError('closed', 'The skills are closed.');
    if (this.#running.size >= this.#options.maxScripts) {
      throw new SkillFault('limit_reached', `${this.#running.size} scripts of skills run already. Try again when one of them has ended.`);
    }
    const signal = AbortSignal.any([context.signal, this.#closing.signal]);
    const { maxOutputBytes } = this.#options;
    const running = runScript({ skill, scriptName, args: args.args, kwargs: args.kwargs, maxOutputBytes, signal });
    this.#running.add(running);
    const forget = (): boolean => this.#running.delete(running);
    running.then(forget, forget);
    const result = await running;
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
  }

  async #findSkill(args: JsonObject): Promise<Skill> {
    const wanted = toName(args, 'skill_name');
    const { skills } = await this.#find();
    const skill = findByName(wanted, skills, ({ name }) => name);
    if (skill === undefined)
      throw notFound(
        'skill',
        wanted,
        skills.map(({ name }) => name),
      );
    return skill;
  }

  async #find(): Promise<{ skills: Skill[]; problems: string[] }> {
    const found = await this.#finder.find(this.#folders);
    for (const problem of found.problems) {
      if (this.#reported.has(problem) || this.#reported.size >= mostReports) continue;
      this.#reported.add(problem);
      this.#options.logger.warn(problem);
    }
    return found;
  }
}

async function toDetails(skill: Skill): Promise<SkillDetails> {
  const [scripts, resources] = await Promise.all([listScripts(skill), listResources(skill)]);
  return { skill, scripts, resources };
}

function toName(args: JsonObject, key: string): string {
  const name = args[key];
  if (typeof name === 'string' && name !== '') return name;
  throw new SkillFault('invalid_arguments', `"${key}" must be a text that is not empty, found ${quote(name)}.`);
}
