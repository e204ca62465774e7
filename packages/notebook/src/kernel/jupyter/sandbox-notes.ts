import type { FolderAccess } from '@notebridge/sandbox/spec';
import { shellWord } from '@notebridge/system/starts/shell-word';
import type { Output } from '../../model/output.js';

/** What code in the sandbox was given, and by which Python. */
export interface GivenReach {
  readonly folder: string;
  readonly files: FolderAccess;
  readonly allowNet: readonly string[];
  readonly python: string;
}

/** What the sandbox kept code from. `host`: as it was named. */
export type Restriction =
  | { readonly kind: 'write'; readonly folder: string }
  | { readonly kind: 'network'; readonly host: string }
  | { readonly kind: 'install' };

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how colours begin.
const colours = /\x1b\[[\d;]*m/g;
const isUnreached =
  /Temporary failure in name resolution|Name or service not known|nodename nor servname|No address associated with hostname|Network is unreachable|Could not resolve host|Failed to resolve|Tunnel connection failed: 403|unable to resolve host/i;
const hostNamed =
  /\bhost='([^']+)'|(?:resolve|resolve host:?) '?([\w.-]+\.[a-z]{2,})\b|https?:\/\/([\w.-]+)|["']([\w-]+(?:\.[\w-]+)*\.[a-z]{2,})["'],\s*\d+/i;
/** By pip, once it has tried. */
const isNotInstalled = /No matching distribution found|Could not install packages due to/;
const isInstall =
  /^[ \t]*(?:[!%][ \t]*)?(?:\w+[ \t]+-m[ \t]+)?(?:uv[ \t]+)?(?:pip3?|conda|mamba)[ \t]+(?:add|install)[ \t]+(?:-\S+[ \t]+)*([\w.-]+)?/m;

/**
 * Says in the outputs of one cell what its sandbox kept it from, and what would give it: the errors of the system say neither. Once for each
 * kind, beside the error or the text that shows it.
 */
export function createSandboxNotes(reach: GivenReach, source: string) {
  const said = new Set<string>();
  const installs = isInstall.exec(source);

  /** What kept it from what it tried, by the words of an error or of a program. */
  const find = (text: string): { restriction?: Restriction; note: string } | undefined => {
    if (installs && (isUnreached.test(text) || isNotInstalled.test(text)))
      return { restriction: { kind: 'install' }, note: installNote(reach, installs[1]) };
    if (isUnreached.test(text)) {
      const [, ...hosts] = hostNamed.exec(text) ?? hostNamed.exec(source) ?? [];
      const host = hosts.find((each) => each !== undefined);
      return { ...(host === undefined ? {} : { restriction: { kind: 'network', host } }), note: networkNote(reach, host) };
    }
    if (/Read-only file system/.test(text)) {
      const path = /Read-only file system: '([^']*)'/.exec(text)?.[1] ?? '';
      const isInFolder = !path.startsWith('/') || path.startsWith(`${reach.folder}/`);
      if (isInFolder && reach.files === 'ro') return { restriction: { kind: 'write', folder: reach.folder }, note: writeNote };
      return { note: 'This kernel runs in a sandbox: outside of the notebook’s folder it writes below /tmp alone, which is gone with it.' };
    }
    const missing = /No module named '(\w+)/.exec(text)?.[1];
    return missing === undefined ? undefined : { restriction: { kind: 'install' }, note: installNote(reach, missing) };
  };

  return (output: Output): { outputs: Output[]; restriction?: Restriction | undefined } => {
    const isError = output.output_type === 'error';
    if (!isError && output.output_type !== 'stream') return { outputs: [output] };
    const text = isError ? [`${output.ename}: ${output.evalue}`, ...output.traceback].join('\n').replace(colours, '') : String(output.text);
    const found = isError || isUnreached.test(text) || (installs && isNotInstalled.test(text)) ? find(text) : undefined;
    if (!found || said.has(found.note)) return { outputs: [output] };
    said.add(found.note);
    const { note, restriction } = found;
    if (isError) return { outputs: [{ ...output, traceback: [...output.traceback, note] }], restriction };
    return { outputs: [output, { output_type: 'stream', name: 'stderr', text: `[${note}]\n` }], restriction };
  };
}

const writeNote =
  'This kernel runs in a sandbox, and the notebook’s folder is read-only for it. To let code write there, start Notebridge with: --files rw. Below /tmp it may write now; that is gone with the kernel.';

function networkNote({ allowNet }: GivenReach, host = 'HOST'): string {
  const but = allowNet.length === 0 ? '' : ` but ${allowNet.join(', ')}`;
  return `This kernel runs in a sandbox, and reaches no server${but}. To open one to it, start Notebridge with: --allow-net ${host}`;
}

/** A module and its package may have different names, so neither is sure. */
function installNote({ python }: GivenReach, name = 'PACKAGE'): string {
  return `This kernel runs in a sandbox, in which nothing is installed. In a terminal: ${shellWord(python)} -m pip install ${name}. Then restart the kernel.`;
}
