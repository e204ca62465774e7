import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { didYouMean } from '@notebridge/kit/did-you-mean';
import { BridgeError } from '../../core/errors.js';
import { readHostFile, replaceHostFile } from './host-file.js';
import { type ConfigPlace, type Host, hosts } from './hosts.js';
import { type LaunchCommand, launchCommand } from './launch-command.js';
import type { Merged, MergeRequest } from './merge.js';
import { mergeIntoJson } from './merge-json.js';
import { mergeIntoToml } from './merge-toml.js';

export interface SetupOptions extends ConfigPlace {
  /** The name of a host, as typed. */
  host: string | undefined;
  /** False prints only. */
  write: boolean;
  /** The notebook that the host's agents work in: an `.ipynb` file, which is written as a whole path. Default: none is named. */
  notebook?: string | undefined;
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
  /** The whole path of the notebook that was asked for. */
  notebook?: string;
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
  const base = options.launch ?? launchCommand();
  const named = options.notebook === undefined ? [] : ([['--notebook', toWholePath(options.notebook)]] as const);
  const launch = { ...base, args: [...base.args, ...named.flat()] };
  const file = host.file(options);
  const request: MergeRequest = { file, container: host.container, name: 'notebridge', entry: host.entry(launch), options: named };
  const ownCommand = host.ownCommand?.(launch);
  return {
    host: host.name,
    title: host.title,
    file,
    ...(options.write ? await writeEntry(host, request) : { status: 'printed' }),
    snippet: mergers[host.format]('', request).text,
    ...(named[0] === undefined ? {} : { notebook: named[0][1] }),
    ...(ownCommand === undefined ? {} : { ownCommand }),
    afterwards: host.afterwards,
  };
}

/** Agent hosts start us in any folder, often in the root. @throws BridgeError `bad_usage` for what is no notebook file. */
function toWholePath(file: string): string {
  if (file === 'local' || file === 'colab') return file;
  if (!file.endsWith('.ipynb') || URL.canParse(file))
    throw new BridgeError('bad_usage', `--notebook "${file}" cannot be used: give a file that ends in .ipynb, "local" or "colab".`);
  const path = resolve(file);
  if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new BridgeError(
      'bad_usage',
      `--notebook "${file}" cannot be used: there is no folder "${dirname(path)}". Make it, or correct the path.`,
    );
  return path;
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
