import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { didYouMean } from '@notebridge/kit/did-you-mean';
import { stateDir } from '../../assembly/state-dir.js';
import { BridgeError } from '../../core/errors.js';
import { toWholeKernel } from '../kernel-argument.js';
import { readHostFile, replaceHostFile } from './host-file.js';
import { type ConfigPlace, type Host, hosts, tokenVariable } from './hosts.js';
import { toHubAddress } from './hub-address.js';
import { type LaunchCommand, launchCommand } from './launch-command.js';
import type { Merged, MergeRequest } from './merge.js';
import { mergeIntoJson } from './merge-json.js';
import { mergeIntoToml } from './merge-toml.js';
import { toNotebookArgument } from './notebook-argument.js';

export interface SetupOptions extends ConfigPlace {
  /** The name of a host, as typed. */
  host: string | undefined;
  /** False prints only. */
  write: boolean;
  /** The notebook that the host's agents work in, as `--notebook` of `stdio` takes it; files are written as whole paths. Default: none is named. */
  notebook?: string | undefined;
  /** What runs its code, as `--kernel` of `stdio` takes it; paths are written whole. Default: none is named. */
  kernel?: string | undefined;
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
  status: 'printed' | 'unchanged' | 'added' | 'updated';
  /** What the file has to hold, as it would stand in an otherwise empty one. */
  snippet: string;
  /** The copy of the old file, if one was replaced. */
  backup?: string;
  /** The notebook that was asked for, as it is written. */
  notebook?: string;
  /** The kernel that was asked for, as it is written. */
  kernel?: string;
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
  const plan = options.url === undefined ? await planStart(host, options) : planConnection(host, { ...options, url: options.url });
  const request: MergeRequest = { file: host.file(options), container: host.container, name: 'notebridge', ...plan.merge };
  return {
    host: host.name,
    title: host.title,
    file: request.file,
    ...(options.write ? await writeEntry(host, request) : { status: 'printed' }),
    snippet: mergers[host.format]('', request).text,
    ...plan.report,
    afterwards: host.afterwards,
  };
}

/** How the host comes to us. */
interface SetupPlan {
  merge: Pick<MergeRequest, 'entry' | 'options'>;
  report: Pick<SetupReport, 'notebook' | 'kernel' | 'url' | 'notes' | 'ownCommand'>;
}

async function planStart(host: Host, { notebook, kernel, launch: base = launchCommand() }: SetupOptions): Promise<SetupPlan> {
  const argument = notebook === undefined ? undefined : await toNotebookArgument(notebook);
  const whole = kernel === undefined ? undefined : toKernel(kernel);
  const named: [string, string][] = [];
  if (argument !== undefined) named.push(['--notebook', argument.where]);
  if (whole !== undefined) named.push(['--kernel', whole]);
  const launch = { ...base, args: [...base.args, ...named.flat()] };
  const ownCommand = host.ownCommand?.(launch);
  return {
    merge: { entry: host.entry(launch), options: named },
    report: {
      ...(argument === undefined ? {} : { notebook: argument.where }),
      ...(whole === undefined ? {} : { kernel: whole }),
      notes: argument?.hadToken ? [tokenNote(host)] : [],
      ...(ownCommand === undefined ? {} : { ownCommand }),
    },
  };
}

/** A typing error is found now, and not by an agent host that shows it to nobody. */
function toKernel(kernel: string): string {
  const whole = toWholeKernel(kernel);
  if (!isAbsolute(whole) || existsSync(whole)) return whole;
  throw new BridgeError(
    'bad_usage',
    `--kernel "${kernel}" cannot be used: there is nothing at "${whole}". "notebridge kernels" lists those of this machine.`,
  );
}

function tokenNote({ title }: Host): string {
  return `The token of the address is not written: the file of ${title} is no place for it. Of a server on this machine it is found without; for another one, have JUPYTER_TOKEN set where ${title} is started.`;
}

function planConnection(host: Host, { url, notebook, kernel, env }: SetupOptions & { url: string | true }): SetupPlan {
  if (notebook !== undefined || kernel !== undefined)
    throw new BridgeError(
      'bad_usage',
      '--url is of a hub that serves, and its notebook is chosen where it is started: notebridge serve --notebook FILE.ipynb. Leave --notebook and --kernel out here.',
    );
  if (host.connection === undefined)
    throw new BridgeError(
      'bad_usage',
      `${host.title} takes no address of a server from its file, only commands to start. Leave --url out: notebridge setup ${host.name}`,
    );
  const address = toHubAddress(url, stateDir(env));
  const ownCommand = host.connection.ownCommand?.(address);
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

async function writeEntry(host: Host, request: MergeRequest): Promise<Pick<SetupReport, 'status' | 'backup'>> {
  const before = await readHostFile(request.file);
  const merged = mergers[host.format](before ?? '', request);
  if (merged.change === 'none') return { status: 'unchanged' };
  const backup = await replaceHostFile({ file: request.file, before, after: merged.text });
  return { status: merged.change, ...(backup === undefined ? {} : { backup }) };
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
