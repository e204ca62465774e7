import { dirname, isAbsolute } from 'node:path';
import { didYouMean } from '@notebridge/kit/did-you-mean';
import { messageOf } from '@notebridge/kit/message-of';
import { shellWord } from '@notebridge/kit/shell-word';
import { loadNotebook } from '../../assembly/load-notebook.js';
import { withoutToken } from '../../assembly/notebooks/to-opener.js';
import { BridgeError } from '../../core/errors.js';
import { stateDir } from '../../processes/state-dir.js';
import { assertKeptOutside } from '../../processes/written-rule.js';
import { toWholeKernel } from '../kernel-argument.js';
import { readHostFile, replaceHostFile } from './host-file.js';
import { type ConfigPlace, type Host, hosts, type Scope, type ServersPlace, tokenVariable } from './hosts.js';
import { toHubAddress } from './hub-address.js';
import { type LaunchCommand, launchCommand } from './launch-command.js';
import { type EntryOption, type Merged, type MergeRequest, sameKind, toWords } from './merge.js';
import { mergeIntoJson } from './merge-json.js';
import { mergeIntoToml } from './merge-toml.js';
import { toNotebookArgument } from './notebook-argument.js';

export interface SetupOptions extends ConfigPlace {
  /** The name of a host, as typed. */
  host: string | undefined;
  /** False prints only. */
  write: boolean;
  /** For which projects. Default: the first of the host, and all with `url`. */
  scope?: Scope | undefined;
  /** The notebook that the host's agents work in, as `--notebook` of `stdio` takes it; files are written as whole paths. Default: none is named. */
  notebook?: string | undefined;
  /** What runs its code, as `--kernel` of `stdio` takes it; paths are written whole. Default: none is named. */
  kernel?: string | undefined;
  /** What its code reaches, as `--files` and `--allow-net` of `stdio` take it. Default: none is named. */
  files?: string | undefined;
  allowNet?: readonly string[] | undefined;
  /** Agents call tools by code, as `--code-mode` of `stdio` takes it. Default: nothing is written of it. */
  codeMode?: true | undefined;
  /** The host connects to a hub that serves, in place of starting us: its address, or true for the one of this user. Default: it starts us. */
  url?: string | true | undefined;
  /** Default: as this program itself was started. */
  launch?: LaunchCommand;
}

/** What was done, or is to be done by hand. */
export interface SetupReport {
  host: string;
  title: string;
  file: string;
  /** For which projects the entry counts. */
  scope: Scope;
  /** It was asked for. */
  isScopeNamed: boolean;
  /** The folder of the project, where it counts for one alone. */
  project?: string;
  status: 'printed' | 'unchanged' | 'added' | 'updated';
  /** What the file has to hold, as it would stand in an otherwise empty one. */
  snippet: string;
  /** The copy of the old file, if one was replaced. */
  backup?: string;
  /** The notebook that was asked for, as it is written. */
  notebook?: string;
  /** The kernel that was asked for, as it is written. */
  kernel?: string;
  /** As it was asked for. */
  files?: string;
  allowNet?: readonly string[];
  codeMode?: true;
  /** The address of the hub, if the host connects to one. */
  url?: string;
  /** What is not written, and what to do about it: sentences. */
  notes: string[];
  /** The host's own command that does the same. */
  ownCommand?: string;
  afterwards: string;
}

/**
 * Sets up an agent host to start us, or says how.
 *
 * @throws BridgeError `bad_usage` for an unknown host, `bad_config` for a broken host file, `write_failed`.
 */
export async function setup(options: SetupOptions): Promise<SetupReport> {
  const host = findHost(options.host);
  // A hub is of all projects.
  const scope = findScope(host, options.scope ?? (options.url === undefined ? undefined : 'user'));
  const inScope = { ...options, scope };
  const plan = options.url === undefined ? await planStart(host, inScope) : planConnection(host, { ...inScope, url: options.url });
  const request: MergeRequest = { ...placeOf(host, inScope), name: 'notebridge', ...plan.merge };
  const { former, ...outcome } = options.write ? await writeEntry(host, request) : { status: 'printed' as const, former: [] };
  return {
    host: host.name,
    title: host.title,
    file: request.file,
    scope,
    isScopeNamed: options.scope !== undefined,
    ...(scope === 'user' ? {} : { project: options.project }),
    ...outcome,
    snippet: mergers[host.format]('', request).text,
    ...plan.report,
    notes: [
      ...plan.report.notes,
      ...noteOn(former, { host, scope, asked: plan.merge.options ?? [] }),
      ...(scope === 'user' ? [] : await noteOnOthers(host, { ...inScope, request })),
    ],
    afterwards: host.afterwards,
  };
}

/** How the host comes to us. */
interface SetupPlan {
  merge: Pick<MergeRequest, 'entry' | 'options'>;
  report: Pick<SetupReport, 'notebook' | 'kernel' | 'files' | 'allowNet' | 'codeMode' | 'url' | 'notes' | 'ownCommand'>;
}

type InScope = SetupOptions & { scope: Scope };

async function planStart(host: Host, options: InScope): Promise<SetupPlan> {
  const { notebook, files, allowNet = [], codeMode, launch: base = launchCommand() } = options;
  assertBuiltIn(options);
  const argument = notebook === undefined ? undefined : await toNotebookArgument(notebook);
  const kernel = options.kernel === undefined ? undefined : await toKernel(options.kernel, { notebook: argument?.where, env: options.env });
  const named: EntryOption[] = [];
  if (argument !== undefined) named.push(['--notebook', argument.where]);
  if (kernel !== undefined) named.push(['--kernel', kernel]);
  if (files !== undefined) named.push(['--files', files]);
  for (const server of allowNet) named.push(['--allow-net', server]);
  if (codeMode !== undefined) named.push(['--code-mode']);
  const launch = { ...base, args: [...base.args, ...toWords(named)] };
  const ownCommand = host.ownCommand?.(launch, options.scope);
  return {
    merge: { entry: host.entry(launch), options: named },
    report: {
      ...(argument === undefined ? {} : { notebook: argument.where }),
      ...(kernel === undefined ? {} : { kernel }),
      ...(files === undefined ? {} : { files }),
      ...(allowNet.length === 0 ? {} : { allowNet }),
      ...(codeMode === undefined ? {} : { codeMode }),
      notes: argument?.hadToken ? [tokenNote(host)] : [],
      ...(ownCommand === undefined ? {} : { ownCommand }),
    },
  };
}

/** Of another notebook these would mean nothing, and nobody would notice. */
function assertBuiltIn({ host, notebook = 'colab', kernel, files, allowNet = [] }: SetupOptions): void {
  const [option] = Object.entries({ kernel, files, 'allow-net': allowNet[0] }).find(([, value]) => value !== undefined) ?? [];
  if (option === undefined || notebook === 'local' || (notebook.endsWith('.ipynb') && !/^(?:jupyter=|https?:)/.test(notebook))) return;
  throw new BridgeError(
    'bad_usage',
    `--${option} is of the built-in notebook, so name its file too: notebridge setup ${host} --notebook work.ipynb --${option} …`,
  );
}

/** What cannot be used is found now, and not by an agent host that shows it to nobody. */
async function toKernel(kernel: string, { notebook, env }: Pick<SetupOptions, 'notebook' | 'env'>): Promise<string> {
  const whole = toWholeKernel(kernel);
  if (whole === 'auto') return whole;
  const { toUsableKernel } = await loadNotebook(stateDir());
  const folder = notebook !== undefined && isAbsolute(notebook) ? dirname(notebook) : process.cwd();
  return toUsableKernel(whole, { folder, env }).catch((error: unknown) => {
    throw new BridgeError('bad_usage', `Nothing was written. ${messageOf(error)}`, { cause: error });
  });
}

/** What the entry had until now, and what it still has of which nothing was asked for. */
function noteOn(
  former: readonly EntryOption[],
  { host, scope, asked }: { host: Host; scope: Scope; asked: readonly EntryOption[] },
): string[] {
  const toText = (options: readonly EntryOption[]): string =>
    toWords(options)
      .map((word) => shellWord(withoutToken(word)))
      .join(' ');
  const replaced = sameKind(former, asked);
  const kept = former.filter((option) => !replaced.includes(option));
  const notes: string[] = [];
  const isOfNotebook = replaced.some(([name]) => name === '--notebook');
  if (replaced.length > 0 && toText(replaced) !== toText(sameKind(asked, replaced)))
    notes.push(`Until now it had: ${toText(replaced)}${scope === 'user' && isOfNotebook ? forOneProject(host) : ''}`);
  const [works, calls] = [kept.filter(([name]) => name !== '--code-mode'), kept.filter(([name]) => name === '--code-mode')];
  if (works.length > 0 && toText(works) !== '--notebook colab')
    notes.push(`It starts with: ${toText(works)}\nFor Google Colab: notebridge setup ${host.name} --notebook colab --write`);
  if (calls.length > 0) notes.push(`It starts with: ${toText(calls)}\nTo have every tool listed instead, take that word out of the file.`);
  return notes;
}

/** An entry for all projects works in one notebook: a second project takes it from the first. */
function forOneProject({ name, scopes }: Host): string {
  const [scope] = (['local', 'project'] as const).filter((each) => scopes[each] !== undefined);
  return scope === undefined ? '' : `\nThat was for all projects. For this one alone: notebridge setup ${name} --scope ${scope} …`;
}

async function noteOnOthers(host: Host, { request, ...options }: InScope & { request: MergeRequest }): Promise<string[]> {
  const notes: string[] = [];
  if (options.scope === 'project')
    notes.push('That file belongs to the project, and has paths of this machine in it: keep it out of what you share.');
  const ofUser = host.scopes.user?.(options);
  const text = ofUser === undefined ? undefined : await readHostFile(ofUser.file);
  if (ofUser === undefined || text === undefined) return notes;
  const isThere = mergers[host.format](text, { ...request, ...ofUser }).change !== 'added';
  if (isThere) notes.push(`There is a "notebridge" for all projects too, in ${ofUser.file}. In this one the new entry counts.`);
  return notes;
}

function tokenNote({ title }: Host): string {
  return `The token of the address is not written: the file of ${title} is no place for it. Of a server on this machine it is found without; for another one, have JUPYTER_TOKEN set where ${title} is started.`;
}

function planConnection(host: Host, { url, env, scope, ...named }: InScope & { url: string | true }): SetupPlan {
  const { notebook, kernel, files, allowNet = [], codeMode } = named;
  if ([notebook, kernel, files, ...allowNet].some((value) => value !== undefined))
    throw new BridgeError(
      'bad_usage',
      '--url is of a hub that serves, and its notebook is chosen where it is started: notebridge serve --notebook FILE.ipynb. Leave --notebook and what is of it out here.',
    );
  if (codeMode !== undefined)
    throw new BridgeError(
      'bad_usage',
      '--url is of a hub that serves, and code mode is switched on where it is started: notebridge serve --code-mode. Leave --code-mode out here.',
    );
  if (host.connection === undefined)
    throw new BridgeError(
      'bad_usage',
      `${host.title} takes no address of a server from its file, only commands to start. Leave --url out: notebridge setup ${host.name}`,
    );
  const address = toHubAddress(url, stateDir(env));
  const ownCommand = host.connection.ownCommand?.(address, scope);
  return {
    merge: { entry: host.connection.entry(address) },
    report: {
      url: address,
      notes: [
        `No token is written: ${host.title} takes it from the variable ${tokenVariable}, which has to be set where it is started:\n\n  export ${tokenVariable}=$(notebridge grant --agent --ttl 30d)\n\nIt ends after that time, or with "notebridge grant revoke ID". A hub that was started with --no-auth needs none.`,
      ],
      ...(ownCommand === undefined ? {} : { ownCommand }),
    },
  };
}

const mergers: Record<Host['format'], (text: string, request: MergeRequest) => Merged> = { json: mergeIntoJson, toml: mergeIntoToml };

async function writeEntry(host: Host, request: MergeRequest): Promise<Pick<SetupReport, 'status' | 'backup'> & Pick<Merged, 'former'>> {
  assertKeptOutside(request.file, `The settings of ${host.title}`);
  const before = await readHostFile(request.file);
  const merged = mergers[host.format](before ?? '', request);
  const { former } = merged;
  if (merged.change === 'none') return { status: 'unchanged', former };
  const backup = await replaceHostFile({ file: request.file, before, after: merged.text });
  return { status: merged.change, former, ...(backup === undefined ? {} : { backup }) };
}

function findScope({ title, scopes }: Host, scope: Scope | undefined): Scope {
  const known = Object.keys(scopes) as [Scope, ...Scope[]];
  if (scope === undefined) return known[0];
  if (known.includes(scope)) return scope;
  throw new BridgeError('bad_usage', `${title} keeps no servers with the scope "${scope}". Its scopes: ${known.join(', ')}.`);
}

function placeOf({ scopes }: Host, options: InScope): ServersPlace {
  const place = scopes[options.scope]?.(options);
  if (place === undefined) throw new BridgeError('internal', 'A scope is used that the host has not.');
  return place;
}

function findHost(name: string | undefined): Host {
  const names = hosts.map((host) => host.name);
  const known = `Hosts are ${names.join(', ')}.`;
  if (name === undefined)
    throw new BridgeError('bad_usage', `Which host is to be set up? ${known} For example: notebridge setup ${names[0]}`, {
      data: { hosts: names },
    });
  const found = hosts.find((host) => host.name === name);
  if (found !== undefined) return found;
  const meant = didYouMean(name, names);
  throw new BridgeError('bad_usage', `There is no host "${name}".${meant === undefined ? '' : ` Did you mean "${meant}"?`} ${known}`, {
    data: { host: name, hosts: names },
  });
}
