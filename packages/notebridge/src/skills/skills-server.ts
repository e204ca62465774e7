import type { JsonObject } from '@notebridge/kit/json';
import { type Logger, silentLogger } from '@notebridge/kit/logger';
import type { SkillFolder } from '../config/skill-folder.js';
import type { CallContext } from '../core/call-context.js';
import { BridgeError } from '../core/errors.js';
import { type Tool, type ToolResult, toFailedResult } from '../core/mcp.js';
import type { ToolServer } from '../core/tool-server.js';
import { quote } from '../util/quote.js';
import { BuiltInServer, type SkillToolRunner } from './built-in-server.js';
import type { SavedSkill, SavedSkillFiles, SavedSkillShelf } from './saved-skills.js';
import { ScriptReader } from './script-reader.js';
import { findByName, notFound, SkillFault } from './skill-fault.js';
import { listResources, listScripts } from './skill-files.js';
import { loadHeaderParser, readInstructions, type Skill, SkillFinder } from './skill-finder.js';
import { readResource } from './skill-resource.js';
import { runScript } from './skill-script.js';
import { type SkillDetails, toListEntry, toListText, toSavedEntry, toSkillText } from './skill-texts.js';
import { type SkillToolName, savingTools, skillTools } from './skill-tools.js';
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
  const { isCodeMode = false } = options;
  const tools = isCodeMode ? [...skillTools, ...savingTools] : skillTools;
  const shelf = new Shelf({ ...options, tools });
  const run: SkillToolRunner = (tool, args, context) => shelf.run(tool, args, context);
  const server = new BuiltInServer(run, { tools, expose: isCodeMode ? 'code' : 'direct' });
  return Object.assign(server, {
    setFolders: shelf.setFolders.bind(shelf),
    setShelf: shelf.setShelf.bind(shelf),
    close: shelf.close.bind(shelf),
  });
}

const mostReports = 1000;

class Shelf {
  readonly #options: Required<Omit<SkillsServerOptions, 'isCodeMode'>> & { tools: readonly Tool[] };
  readonly #finder = new SkillFinder();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #reported = new Set<string>();
  #folders: readonly SkillFolder[];
  #saved: SavedSkillShelf | undefined;

  constructor(options: SkillsServerOptions & { tools: readonly Tool[] }) {
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

  async run(tool: string, args: JsonObject, context: CallContext): Promise<ToolResult> {
    const { tools } = this.#options;
    if (!tools.some(({ name }) => name === tool)) {
      const names = tools.map(({ name }) => name).join(', ');
      throw new BridgeError('unknown_tool', `Unknown skill tool: ${quote(tool)}. Available: ${names}.`);
    }
    try {
      return await this.#runKnown(tool as SkillToolName, args, context);
    } catch (error) {
      if (error instanceof SkillFault) return error.toResult();
      if (error instanceof BridgeError && error.code === 'skill_changed') return toFailedResult(error.code, error.message);
      throw error;
    }
  }

  async #runKnown(tool: SkillToolName, args: JsonObject, context: CallContext): Promise<ToolResult> {
    switch (tool) {
      case 'list_skills':
        return this.#list(context);
      case 'load_skill':
        return this.#load(await this.#findSkill(args, context));
      case 'read_skill_resource':
        return this.#read(await this.#findSkill(args, context), toName(args, 'resource_name'));
      case 'run_skill_script': {
        const { skill, saved } = await this.#findSkill(args, context);
        return saved === undefined ? this.#runScript(skill, args, context) : toCodeToRun(saved.name, await saved.open());
      }
      case 'save_skill':
        return this.#shelf.save(
          args,
          context,
          (await this.#find()).skills.map(({ name }) => name),
        );
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

  async #load({ skill, saved }: FoundSkill): Promise<ToolResult> {
    if (saved !== undefined) return toStringResult((await saved.open()).document);
    const file = await readInstructions(skill.folder, skill.file);
    if (file.kind === 'fault') throw new SkillFault('invalid_arguments', file.why);
    const { parseSkillFile } = await loadHeaderParser();
    return toStringResult(toSkillText(await toDetails(skill), parseSkillFile(file.text, skill.folder.name).instructions));
  }

  async #read({ skill, saved }: FoundSkill, resource: string): Promise<ToolResult> {
    if (saved !== undefined) throw notFound('resource', resource, []);
    return readResource(skill, resource, this.#options.maxResourceBytes);
  }

  async #runScript(skill: Skill, args: JsonObject, context: CallContext): Promise<ToolResult> {
    const scriptName = (args.script_name ?? undefined) === undefined ? await onlyScript(skill) : toName(args, 'script_name');
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

  async #findSkill(args: JsonObject, context: CallContext): Promise<FoundSkill> {
    const wanted = toName(args, 'skill_name');
    const { skills } = await this.#find();
    const saved = this.#savedFor(context).map((skill) => ({ name: skill.name, skill }));
    // Those of the config come first: nothing that is saved takes their place.
    const found = findByName<{ name: string }>(wanted, [...skills, ...saved], ({ name }) => name);
    const ofConfig = skills.find((skill) => skill === found);
    if (ofConfig !== undefined) return { skill: ofConfig };
    const own = saved.find((one) => one === found);
    if (own !== undefined) return { saved: { name: own.name, open: () => this.#shelf.open(own.skill) } };
    throw notFound(
      'skill',
      wanted,
      [...skills, ...saved].map(({ name }) => name),
    );
  }

  #savedFor(context: CallContext): readonly SavedSkill[] {
    return this.#saved?.seenBy(context) ?? [];
  }

  get #shelf(): SavedSkillShelf {
    if (this.#saved !== undefined) return this.#saved;
    throw new SkillFault('denied', 'Skills are saved in code mode alone.');
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

/** One of a folder of the config, or one that code has saved. */
type FoundSkill =
  | { skill: Skill; saved?: undefined }
  | { skill?: undefined; saved: { name: string; open: () => Promise<SavedSkillFiles> } };

/** It is run by whoever has asked, in the Python that it runs in itself: so it has the rights of that code, and no others. */
function toCodeToRun(name: string, { code }: SavedSkillFiles): ToolResult {
  const text = `The code of the saved skill ${quote(name)}: run_skill of generated.skills runs it in the Python that has asked.`;
  return { content: [{ type: 'text', text }], _meta: { [savedSkillMetaKey]: { name, code } } };
}

async function onlyScript(skill: Skill): Promise<string> {
  const names = (await listScripts(skill)).map(({ name }) => name);
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  throw notFound(`script of the skill "${skill.name}" called`, '', names);
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
