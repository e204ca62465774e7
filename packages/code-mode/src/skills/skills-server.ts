import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { type ToolResult, withFailedResults } from '@notebridge/protocol/core/mcp';
import type { ToolServer } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { quote } from '@notebridge/protocol/util/quote';
import { BuiltInServer } from './built-in-server.js';
import { findByName, notFound } from './find-by-name.js';
import type { SavedSkill, SavedSkillFiles, SavedSkillShelf } from './saved-skills.js';
import { ScriptReader } from './script-description.js';
import { listResources, listScripts, readResource } from './skill-files.js';
import { loadHeaderParser, readInstructions, type Skill, SkillFinder } from './skill-finder.js';
import type { SkillFolder } from './skill-folder.js';
import { runScript } from './skill-script.js';
import { type SkillDetails, toListEntry, toListText, toSavedEntry, toSkillText } from './skill-texts.js';
import { type SkillToolName, toObjectResult, toStringResult } from './skill-tools.js';

export interface SkillsServerOptions {
  folders: readonly SkillFolder[];
  logger?: Logger;
  /** The largest resource that is read. Default 8 MiB. */
  maxResourceBytes?: number;
  /** What is kept of each output of a script. Default 1 MiB. */
  maxOutputBytes?: number;
  /** Scripts that run at once; one more is refused. Default 16. */
  maxScripts?: number;
  /** Code mode: code saves skills too, and agents reach all of them by code alone. Default false. */
  isCodeMode?: boolean;
}

/** The server `skills` over folders of the config. */
export interface SkillsServer extends ToolServer {
  /** Takes other folders from the next call on, as after an edit of the config. */
  setFolders(folders: readonly SkillFolder[]): void;
  /** Has the skills that code saves, and those that it has saved, from now on. */
  setShelf(shelf: SavedSkillShelf): void;
  /** Ends the scripts that run, and waits for their end; later ones are refused. Closing twice is harmless. */
  close(): Promise<void>;
}

/** Under this key of `_meta`, `list_skills` gives its list as objects. */
export const skillsMetaKey = 'notebridge/skills';

/** Under this key of `_meta`, `run_skill_script` gives the code of a saved skill. */
const savedSkillMetaKey = 'notebridge/saved_skill';

/** Serves the skills that are found in some folders. They are looked for anew in each call, so an edit needs no restart. */
export function createSkillsServer(options: SkillsServerOptions): SkillsServer {
  return new FolderSkills(options);
}

const mostReports = 1000;

/** What the caller reads in place of a result; everything else is an error of the protocol. */
const readable: ReadonlySet<string> = new Set(['invalid_arguments', 'denied', 'limit_reached', 'result_too_large', 'skill_changed']);

class FolderSkills extends BuiltInServer implements SkillsServer {
  readonly #options: Required<Omit<SkillsServerOptions, 'isCodeMode'>>;
  readonly #finder = new SkillFinder();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #reported = new Set<string>();
  #folders: readonly SkillFolder[];
  #saved: SavedSkillShelf | undefined;

  constructor(options: SkillsServerOptions) {
    super((tool, args, context) => this.#run(tool, args, context), options.isCodeMode);
    const defaults = { logger: silentLogger, maxResourceBytes: 8_388_608, maxOutputBytes: 1_048_576, maxScripts: 16 };
    this.#options = { ...defaults, ...options };
    this.#folders = options.folders;
  }

  setFolders(folders: readonly SkillFolder[]): void {
    this.#folders = folders;
  }

  setShelf(shelf: SavedSkillShelf): void {
    this.#saved = shelf;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }

  async #run(tool: string, args: JsonObject, context: CallContext): Promise<ToolResult> {
    const names = this.knownTools.map(({ name }) => name);
    if (!names.includes(tool)) throw new BridgeError('unknown_tool', `Unknown skill tool: ${quote(tool)}. Available: ${names.join(', ')}.`);
    return withFailedResults(readable, () => this.#runKnown(tool as SkillToolName, args, context));
  }

  async #runKnown(tool: SkillToolName, args: JsonObject, context: CallContext): Promise<ToolResult> {
    switch (tool) {
      case 'list_skills':
        return this.#list(context);
      case 'load_skill':
        return this.#load(await this.#findSkill(args, context));
      case 'read_skill_resource': {
        const skill = await this.#findSkill(args, context);
        const resource = toName(args, 'resource_name');
        if (!('folder' in skill)) throw notFound('resource', resource, []);
        return readResource(skill, resource, this.#options.maxResourceBytes);
      }
      case 'run_skill_script': {
        const skill = await this.#findSkill(args, context);
        return 'folder' in skill ? this.#runScript(skill, args, context) : toCodeToRun(skill.name, await this.#shelf.open(skill));
      }
      case 'save_skill':
        return this.#shelf.save(args, context, namesOf((await this.#find()).skills));
      case 'delete_skill':
        return this.#shelf.remove(args, context);
    }
  }

  async #list(context: CallContext): Promise<ToolResult> {
    const { skills, problems } = await this.#find();
    const details = await Promise.all(skills.map(toDetails));
    const reader = new ScriptReader();
    const entries: JsonObject[] = [];
    for (const each of details) entries.push(toListEntry(each, await reader.describe(each.skill, each.scripts)));
    const saved = this.#savedFor(context).filter(({ name }) => !skills.some((skill) => skill.name === name));
    return {
      ...toStringResult(toListText(details, { problems, saved })),
      _meta: { [skillsMetaKey]: [...entries, ...saved.map(toSavedEntry)] },
    };
  }

  async #load(skill: Skill | SavedSkill): Promise<ToolResult> {
    if (!('folder' in skill)) return toStringResult((await this.#shelf.open(skill)).document);
    const file = await readInstructions(skill.folder, skill.file);
    if (file.kind === 'fault') throw new BridgeError('invalid_arguments', file.why);
    const { parseSkillFile } = await loadHeaderParser();
    return toStringResult(toSkillText(await toDetails(skill), parseSkillFile(file.text, skill.folder.name).instructions));
  }

  async #runScript(skill: Skill, args: JsonObject, context: CallContext): Promise<ToolResult> {
    const scriptName = (args.script_name ?? undefined) === undefined ? await onlyScript(skill) : toName(args, 'script_name');
    if (this.#closing.signal.aborted) throw new BridgeError('closed', 'The skills are closed.');
    if (this.#running.size >= this.#options.maxScripts) {
      throw new BridgeError('limit_reached', `${this.#running.size} scripts of skills run already. Try again when one of them has ended.`);
    }
    const signal = AbortSignal.any([context.signal, this.#closing.signal]);
    const { maxOutputBytes } = this.#options;
    const running = runScript({ skill, scriptName, args: args.args, kwargs: args.kwargs, maxOutputBytes, signal });
    this.#running.add(running);
    try {
      return toObjectResult(await running);
    } finally {
      this.#running.delete(running);
    }
  }

  /** One of a folder of the config, or one that code has saved: those of the config come first, and nothing that is saved takes their place. */
  async #findSkill(args: JsonObject, context: CallContext): Promise<Skill | SavedSkill> {
    const wanted = toName(args, 'skill_name');
    const all = [...(await this.#find()).skills, ...this.#savedFor(context)];
    const found = findByName<Skill | SavedSkill>(wanted, all, ({ name }) => name);
    if (found !== undefined) return found;
    throw notFound('skill', wanted, namesOf(all));
  }

  #savedFor(context: CallContext): readonly SavedSkill[] {
    return this.#saved?.seenBy(context) ?? [];
  }

  get #shelf(): SavedSkillShelf {
    if (this.#saved !== undefined) return this.#saved;
    throw new BridgeError('denied', 'Skills are saved in code mode alone.');
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

/** It is run by whoever has asked, in the Python that it runs in itself: so it has the rights of that code, and no others. */
function toCodeToRun(name: string, { code }: SavedSkillFiles): ToolResult {
  const text = `The code of the saved skill ${quote(name)}: run_skill of generated.skills runs it in the Python that has asked.`;
  return { content: [{ type: 'text', text }], _meta: { [savedSkillMetaKey]: { name, code } } };
}

async function onlyScript(skill: Skill): Promise<string> {
  const names = namesOf(await listScripts(skill));
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  throw notFound(`script of the skill "${skill.name}" called`, '', names);
}

async function toDetails(skill: Skill): Promise<SkillDetails> {
  const [scripts, resources] = await Promise.all([listScripts(skill), listResources(skill)]);
  return { skill, scripts, resources };
}

function namesOf(named: readonly { name: string }[]): string[] {
  return named.map(({ name }) => name);
}

function toName(args: JsonObject, key: string): string {
  const name = args[key];
  if (typeof name === 'string' && name !== '') return name;
  throw new BridgeError('invalid_arguments', `"${key}" must be a text that is not empty, found ${quote(name)}.`);
}
