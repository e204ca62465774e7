import { basename, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type BindingLanguage, bindingLanguages, loadEmitter } from '@notebridge/bindings';
import { type GatheredInput, gatherInput } from '@notebridge/code-mode/bindings/input';
import { writePackage } from '@notebridge/code-mode/bindings/write-package';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { onToolsChanged } from '@notebridge/protocol/core/tool-server';
import { AsyncEvent } from '@notebridge/protocol/util/async-event';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { createNotebridge } from '../../assembly/create-notebridge.js';
import { loadConfig } from '../../config/load-config.js';
import { proxyPrefix } from '../../doors/tool-proxy/tool-proxy.js';
import { sharedOptions } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { askOwner } from '../hub/hub-request.js';
import { findHub, type OwnHub } from '../hub/own-hub.js';
import { asTyped } from '../own-command.js';
import { abortOnSignal } from '../process-life.js';
import { printJsonLine } from '../terminal.js';
import { createVerboseLogger, withoutControls } from '../terminal-logger.js';

const options = [
  option('--lang <language>', 'the language of the package', { choices: bindingLanguages, default: 'python' }),
  option('--out <dir>', 'the folder that becomes the package', { isMandatory: true, parse: (dir: string) => resolve(dir) }),
  option('--watch', 'stay, and write it again whenever the tools change'),
  sharedOptions.json,
  sharedOptions.config,
  sharedOptions.standalone,
];

/** `notebridge generate`: the tools as functions in a language. */
export const generateCommand = defineCommand({
  options,
  example: 'notebridge generate --lang python --out ./generated',
  run: runGenerate,
});

type GenerateOptions = OptionsOf<typeof options>;

/** How often a hub that is gone is looked for. Milliseconds. */
const lookMs = 1000;
/** Lines about names. */
const mostTold = 10;

/**
 * Writes the bindings, and with `watch` again whenever the tools change, until a signal comes. Rejects with `bad_config`, `bad_usage` for
 * a folder that holds anything else, `upstream_unavailable` if no server could be asked, and `write_failed`; the folder is unchanged then.
 */
async function runGenerate(options: GenerateOptions): Promise<void> {
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
  return hub === undefined ? createOwnTools(config, { watch, printLine }) : createHubTools(hub);
}

/** The hub that comes after the one that went; undefined if the signal comes first. Servers are not started in its place. */
async function awaitHub(signal: AbortSignal): Promise<ToolsSource | undefined> {
  while (!signal.aborted) {
    const hub = await findHub().catch(() => undefined);
    if (hub !== undefined) return createHubTools(hub);
    await delay(lookMs, undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/** A renewal that changes nothing is not reported: servers also announce tools that are the same ones. */
async function write(
  source: ToolsSource,
  { lang, out, watch = false, json = false }: GenerateOptions,
  { isRenewal = false } = {},
): Promise<void> {
  const { input, warnings: ofServers, failed } = await source.read();
  const { servers, skills, hubUrl } = input;
  const isEmpty = servers.length === 0 && !skills;
  // A package without any function must not replace a good one because nothing could be reached.
  if (isEmpty && failed > 0)
    throw new BridgeError(
      'upstream_unavailable',
      `No server could be asked for its tools, so nothing was written.\n${ofServers.join('\n')}`,
    );
  const emit = await loadEmitter(lang);
  const written = await emit(input);
  const { files, contentHash, warnings: ofNames } = written;
  const outcome = await writePackage(written, { folder: out, isLive: watch, pid: process.pid });
  if (isRenewal && outcome === 'unchanged') return;
  const ours = [...ofServers, ...nameWarnings(lang, out)];
  if (isEmpty) ours.push('The config names no servers, so the package has no functions. Add some under "mcpServers"; see docs/tools.md.');
  for (const warning of [...ours, ...shortened(ofNames)]) printLine(warning);
  const report = {
    language: lang,
    folder: out,
    // False: the folder had it all already.
    written: outcome === 'written',
    content_hash: contentHash,
    files: files.size,
    servers: servers.map(({ name, tools }) => ({ name, tools: tools.length })),
    skills,
    // Where the package finds the hub; null: it has to be set.
    hub: hubUrl ?? null,
    warnings: [...ours, ...ofNames],
  };
  if (json) return printJsonLine(report);
  const tools = report.servers.reduce((sum, server) => sum + server.tools, 0);
  const what = `${count(tools, 'tool')} of ${count(servers.length, 'server')}`;
  const where =
    report.hub === null ? asTyped('No hub runs: start one with "notebridge serve" before you call them.') : `They call ${report.hub}.`;
  process.stdout.write(report.written ? `Wrote ${out}: ${what}. ${where}\n` : `${out} is up to date: ${what}.\n`);
}

/** Names that had to be changed may be many; the manifest has them all. */
function shortened(warnings: readonly string[]): string[] {
  if (warnings.length <= mostTold) return [...warnings];
  return [...warnings.slice(0, mostTold - 1), `And ${warnings.length - mostTold + 1} more like these; they stand in _manifest.json.`];
}

function nameWarnings(lang: BindingLanguage, out: string): string[] {
  const name = basename(out);
  if (lang !== 'python' || /^[\p{ID_Start}_][\p{ID_Continue}]*$/u.test(name)) return [];
  return [`Python cannot import a package named "${name}". Name the folder with letters, digits and "_".`];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function printLine(text: string): void {
  process.stderr.write(`notebridge: ${withoutControls(text).trimEnd()}\n`);
}

/** Where `generate` finds the tools: the running hub, or the servers of the config in this process. */
interface ToolsSource {
  /** Rejects with `closed` if the hub is gone. */
  read(): Promise<GatheredInput>;
  /** Resolves when the tools may be other ones than those last read, or when the signal comes. Rejects with `closed` if the hub is gone. */
  changed(signal: AbortSignal): Promise<void>;
  /** Ends what was started for it. Closing twice is harmless. */
  close(): Promise<void>;
}

/** A hub may start servers to answer. Milliseconds. */
const answerMs = 120_000;
/** How long a server may take here to start and to list its tools. Milliseconds. */
const listMs = 60_000;

type Answer = GatheredInput & { tag: string };

/** The tools of the running hub, as its owner. It reports changes itself: it answers a request when there is news. */
function createHubTools(hub: OwnHub): ToolsSource {
  let known = '';
  let latest: Answer | undefined;
  const ask = async (query: string, signal?: AbortSignal): Promise<Answer> =>
    (await askOwner(hub, `/bindings${query}`, { timeoutMs: answerMs, ...(signal && { signal }) })) as Answer;
  return {
    read: async () => {
      const { input, warnings, failed, tag } = latest ?? (await ask(''));
      latest = undefined;
      known = tag;
      return { input: { ...input, hubUrl: `${hub.url}${proxyPrefix}` }, warnings, failed };
    },
    // Before anything was read every tag is another one: a hub that has come in place of one that went is read at once.
    changed: async (signal) => {
      try {
        while (!signal.aborted) {
          const answer = await ask(`?after=${known}`, signal);
          if (answer.tag === known) continue;
          latest = answer;
          return;
        }
      } catch (error) {
        if (codeOf(error) !== 'cancelled') throw error;
      }
    },
    close: async () => {},
  };
}

/** The tools of the config's servers, started in this process. With `watch` it follows edits of the config, and prints those that cannot be used. Rejects with `bad_config`. */
async function createOwnTools(
  config: string | undefined,
  { watch, printLine }: { watch: boolean; printLine: (text: string) => void },
): Promise<ToolsSource> {
  const bridge = await createNotebridge({
    config: await loadConfig({ file: config, env: process.env }),
    startServers: false,
    followConfig: watch && { logger: { ...silentLogger, warn: printLine, error: printLine } },
    createLogger: createVerboseLogger,
  });
  const changes = new AsyncEvent();
  const unsubscribe = onToolsChanged(bridge.servers, () => changes.set());
  await bridge.start();
  return {
    read: () => {
      changes.clear();
      return gatherInput(bridge.servers, { hubUrl: undefined, timeoutMs: listMs });
    },
    changed: async (signal) => {
      await changes.wait(undefined, signal);
    },
    close: () => {
      unsubscribe();
      return bridge.close();
    },
  };
}
