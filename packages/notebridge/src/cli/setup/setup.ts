import { BridgeError } from '@notebridge/protocol/core/errors';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { assertKeptOutside } from '@notebridge/system/processes/written-rule';
import { shellWord } from '@notebridge/system/starts/shell-word';
import { withoutToken } from '../../assembly/notebooks/to-opener.js';
import { readHostFile, replaceHostFile } from './host-file.js';
import { type ConfigPlace, type Host, hosts, type LaunchCommand, launchCommand, type Scope, tokenVariable } from './hosts.js';
import { type EntryOption, type Merged, type MergeRequest, mergeEntry, type ServersPlace, sameKind, toWords } from './merge.js';
import { toHubAddress, toKernelArgument, toNotebookArgument } from './written-values.js';

/** What the host's entry is to say; nothing is written of what is left out. */
export interface AskedOfEntry {
  /** The notebook that the host's agents work in, as `--notebook` of `stdio` takes it; files are written as whole paths. */
  notebook?: string | undefined;
  /** What runs its code, as `--kernel` of `stdio` takes it; paths are written whole. */
  kernel?: string | undefined;
  /** What its code reaches, as `--files` and `--allow-net` of `stdio` take it. */
  files?: string | undefined;
  allowNet?: readonly string[] | undefined;
  /** Agents call tools by code, as `--code-mode` of `stdio` takes it. */
  codeMode?: true | undefined;
  /** The host connects to a hub that serves, in place of starting us: its address, or true for the one of this user. */
  url?: string | true | undefined;
}

export interface SetupOptions extends ConfigPlace, AskedOfEntry {
  /** The name of a host, as typed. */
  host: string | undefined;
  /** False prints only. */
  write: boolean;
  /** For which projects. Default: the first of the host, and all with `url`. */
  scope?: Scope | undefined;
  /** Default: as this program itself was started. */
  launch?: LaunchCommand;
}

/** What was done, or is to be done by hand; and what was asked for, as it is written. */
export interface SetupReport extends AskedOfEntry {
  host: string;
  title: string;
  file: string;
  /** For which projects the entry counts. */
  scope: Scope;
  /** It was asked for. */
  isScopeNamed: boolean;
  /** The folder of the project, where it counts for one alone. */
  project?: string | undefined;
  status: 'printed' | Merged['change'];
  /** What the file has to hold, as it would stand in an otherwise empty one. */
  snippet: string;
  /** The copy of the old file, if one was replaced. */
  backup?: string | undefined;
  /** The address of the hub, if the host connects to one. */
  url?: string | undefined;
  /** What is not written, and what to do about it: sentences. */
  notes: string[];
  /** The host's own command that does the same. */
  ownCommand?: string | undefined;
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
  const { scope, place } = findPlace(host, options.scope ?? (options.url === undefined ? undefined : 'user'));
  const inScope = { ...options, scope };
  const { entry, named = [], ...planned } = await (options.url === undefined ? planStart : planConnection)(host, inScope);
  const request: MergeRequest = { ...place(options), entry, options: named };
  const { former, ...outcome } = options.write ? await writeEntry(host, request) : { status: 'printed' as const, former: [] };
  return {
    host: host.name,
    title: host.title,
    file: request.file,
    scope,
    isScopeNamed: options.scope !== undefined,
    project: scope === 'user' ? undefined : options.project,
    ...outcome,
    snippet: mergeEntry(host.format, '', request).text,
    ...planned,
    notes: [
      ...planned.notes,
      ...noteOn(former, { host, scope, asked: named }),
      ...(scope === 'user' ? [] : await noteOnOthers(host, { ...inScope, request })),
    ],
    afterwards: host.afterwards,
  };
}

/** How the host comes to us: its entry, the options in that, and what is reported of them. */
interface SetupPlan extends Pick<SetupReport, keyof AskedOfEntry | 'notes' | 'ownCommand'> {
  entry: MergeRequest['entry'];
  named?: readonly EntryOption[];
}

type InScope = SetupOptions & { scope: Scope };

async function planStart(host: Host, options: InScope): Promise<SetupPlan> {
  const { notebook, files, codeMode, launch: base = launchCommand() } = options;
  // As commander has it where it was not given.
  const allowNet = options.allowNet?.length === 0 ? undefined : options.allowNet;
  assertBuiltIn(options);
  const argument = notebook === undefined ? undefined : await toNotebookArgument(notebook);
  const where = argument?.where;
  const kernel = options.kernel === undefined ? undefined : await toKernelArgument(options.kernel, { notebook: where, env: options.env });
  const named: EntryOption[] = [];
  if (where !== undefined) named.push(['--notebook', where]);
  if (kernel !== undefined) named.push(['--kernel', kernel]);
  if (files !== undefined) named.push(['--files', files]);
  for (const server of allowNet ?? []) named.push(['--allow-net', server]);
  if (codeMode !== undefined) named.push(['--code-mode']);
  const launch = { ...base, args: [...base.args, ...toWords(named)] };
  return {
    entry: host.entry(launch),
    named,
    notebook: where,
    kernel,
    files,
    allowNet,
    codeMode,
    notes: argument?.hadToken ? [tokenNote(host)] : [],
    ownCommand: host.ownCommand?.(launch, options.scope),
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
  const isThere = mergeEntry(host.format, text, { ...request, ...ofUser }).change !== 'added';
  if (isThere) notes.push(`There is a "notebridge" for all projects too, in ${ofUser.file}. In this one the new entry counts.`);
  return notes;
}

function tokenNote({ title }: Host): string {
  return `The token of the address is not written: the file of ${title} is no place for it. Of a server on this machine it is found without; for another one, have JUPYTER_TOKEN set where ${title} is started.`;
}

async function planConnection(host: Host, { url = true, env, scope, ...named }: InScope): Promise<SetupPlan> {
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
  return {
    entry: host.connection.entry(address),
    url: address,
    notes: [
      `No token is written: ${host.title} takes it from the variable ${tokenVariable}, which has to be set where it is started:\n\n  export ${tokenVariable}=$(notebridge grant --agent --ttl 30d)\n\nIt ends after that time, or with "notebridge grant revoke ID". A hub that was started with --no-auth needs none.`,
    ],
    ownCommand: host.connection.ownCommand?.(address, scope),
  };
}

async function writeEntry(host: Host, request: MergeRequest): Promise<Pick<SetupReport, 'status' | 'backup'> & Pick<Merged, 'former'>> {
  assertKeptOutside(request.file, `The settings of ${host.title}`);
  const before = await readHostFile(request.file);
  const { text: after, change: status, former } = mergeEntry(host.format, before ?? '', request);
  if (status === 'unchanged') return { status, former };
  return { status, backup: await replaceHostFile({ file: request.file, before, after }), former };
}

function findPlace({ title, scopes }: Host, named: Scope | undefined): { scope: Scope; place: (of: ConfigPlace) => ServersPlace } {
  const known = Object.keys(scopes) as [Scope, ...Scope[]];
  const scope = named ?? known[0];
  const place = scopes[scope];
  if (place !== undefined) return { scope, place };
  throw new BridgeError('bad_usage', `${title} keeps no servers with the scope "${scope}". Its scopes: ${known.join(', ')}.`);
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
