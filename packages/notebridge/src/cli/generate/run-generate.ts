import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type BindingLanguage, loadEmitter } from '@notebridge/bindings';
import { messageOf } from '@notebridge/kit/message-of';
import type { GatheredInput } from '../../bindings/input.js';
import { writePackage } from '../../bindings/write-package.js';
import { BridgeError, codeOf } from '../../core/errors.js';
import { printMessage } from '../../core/wire.js';
import { createLogger, findHub, type SourceOptions } from '../client/open-source.js';
import { asTyped } from '../own-command.js';
import { abortOnSignal } from '../process-life.js';
import { withoutControls } from '../terminal-logger.js';
import { createHubTools } from './hub-tools.js';
import type { ToolsSource } from './tools-source.js';

export interface GenerateOptions extends SourceOptions {
  lang: BindingLanguage;
  out: string;
  watch?: boolean;
  json?: boolean;
}

/** How often a hub that is gone is looked for. Milliseconds. */
const lookMs = 1000;
/** Lines about names. */
const mostTold = 10;

/**
 * Writes the bindings, and with `watch` again whenever the tools change, until a signal comes. Rejects with `bad_config`, `bad_usage` for
 * a folder that holds anything else, `upstream_unavailable` if no server could be asked, and `write_failed`; the folder is unchanged then.
 */
export async function runGenerate(options: GenerateOptions): Promise<void> {
  let source = await openTools(options);
  try {
    await write(source, options);
    if (options.watch !== true) return;
    const signal = abortOnSignal();
    while (!signal.aborted) {
      try {
        await source.changed(signal);
        if (!signal.aborted) await write(source, options, { isRenewal: true });
      } catch (error) {
        printLine(messageOf(error));
        if (codeOf(error) !== 'closed') continue;
        await source.close();
        source = (await awaitHub(signal)) ?? source;
      }
    }
  } finally {
    await source.close();
  }
}

async function openTools({ config, standalone = false, watch = false }: GenerateOptions): Promise<ToolsSource> {
  const hub = config === undefined && !standalone ? await findHub() : undefined;
  if (hub !== undefined) return createHubTools(hub);
  const { createOwnTools } = await import('./own-tools.js');
  return createOwnTools({ config, watch, printLine, createLogger });
}

/** The hub that comes after the one that went; undefined if the signal comes first. Servers are not started in its place. */
async function awaitHub(signal: AbortSignal): Promise<ToolsSource | undefined> {
  while (!signal.aborted) {
    const hub = await findHub().catch(() => undefined);
    if (hub !== undefined) {
      const source = createHubTools(hub);
      return { ...source, changed: oncePassing(source.changed) };
    }
    await delay(lookMs, undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/** Another hub may have other tools: the first look at it is due at once. */
function oncePassing(changed: ToolsSource['changed']): ToolsSource['changed'] {
  let isFirst = true;
  return async (signal) => {
    if (!isFirst) return changed(signal);
    isFirst = false;
  };
}

/** A renewal that changes nothing is not reported: servers also announce tools that are the same ones. */
async function write(
  source: ToolsSource,
  { lang, out, watch = false, json = false }: GenerateOptions,
  { isRenewal = false } = {},
): Promise<void> {
  const gathered = await source.read();
  assertSome(gathered);
  const emit = await loadEmitter(lang);
  const files = await emit(gathered.input);
  const outcome = await writePackage(files, { folder: out, isLive: watch, pid: process.pid });
  if (isRenewal && outcome === 'unchanged') return;
  const ours = [...gathered.warnings, ...nameWarnings(lang, out), ...emptyWarnings(gathered)];
  const warnings = [...ours, ...files.warnings];
  for (const warning of [...ours, ...shortened(files.warnings)]) printLine(warning);
  const { servers, skills, hubUrl } = gathered.input;
  const report: Report = {
    language: lang,
    folder: out,
    written: outcome === 'written',
    content_hash: files.contentHash,
    files: files.files.size,
    servers: servers.map(({ name, tools }) => ({ name, tools: tools.length })),
    skills,
    hub: hubUrl ?? null,
    warnings,
  };
  process.stdout.write(json ? `${printMessage(report)}\n` : toText(report));
}

/** Names that had to be changed may be many; the manifest has them all. */
function shortened(warnings: readonly string[]): string[] {
  if (warnings.length <= mostTold) return [...warnings];
  return [...warnings.slice(0, mostTold - 1), `And ${warnings.length - mostTold + 1} more like these; they stand in _manifest.json.`];
}

/** A package without any function must not replace a good one because nothing could be reached. */
function assertSome({ input, failed, warnings }: GatheredInput): void {
  if (input.servers.length > 0 || input.skills || failed === 0) return;
  throw new BridgeError('upstream_unavailable', `No server could be asked for its tools, so nothing was written.\n${warnings.join('\n')}`);
}

function emptyWarnings({ input }: GatheredInput): string[] {
  const isEmpty = input.servers.length === 0 && !input.skills;
  return isEmpty ? ['The config names no servers, so the package has no functions. Add some under "mcpServers"; see docs/tools.md.'] : [];
}

function nameWarnings(lang: BindingLanguage, out: string): string[] {
  const name = basename(out);
  if (lang !== 'python' || /^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name)) return [];
  return [`Python cannot import a package named "${name}". Name the folder with letters, digits and "_".`];
}

interface Report {
  language: BindingLanguage;
  folder: string;
  /** False: the folder had it all already. */
  written: boolean;
  content_hash: string;
  files: number;
  servers: { name: string; tools: number }[];
  skills: boolean;
  /** Where the package finds the hub; null: it has to be set. */
  hub: string | null;
  warnings: string[];
}

function toText({ folder, written, servers, hub }: Report): string {
  const tools = servers.reduce((sum, server) => sum + server.tools, 0);
  const what = `${count(tools, 'tool')} of ${count(servers.length, 'server')}`;
  const where = hub === null ? asTyped('No hub runs: start one with "notebridge serve" before you call them.') : `They call ${hub}.`;
  return written ? `Wrote ${folder}: ${what}. ${where}\n` : `${folder} is up to date: ${what}.\n`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function printLine(text: string): void {
  process.stderr.write(`notebridge: ${withoutControls(text).trimEnd()}\n`);
}
