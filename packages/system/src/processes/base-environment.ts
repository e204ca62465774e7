import type { Environment } from './environment.js';
import { searchPathOutside } from './written-rule.js';

/** Whole names, and beginnings that end in `_`. */
const posixNames = ['HOME', 'LANG', 'LANGUAGE', 'LC_', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER', 'XDG_'];
/** What the official SDK hands on there. */
const windowsNames = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

/** What every program we start may know of our environment: where things are and which language is spoken, and no secret. */
export function baseEnvironment(env: Environment = process.env, platform: NodeJS.Platform = process.platform): Record<string, string> {
  const names = platform === 'win32' ? windowsNames : posixNames;
  // Windows knows no case in these names; POSIX does.
  const fold = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name);
  const isKept = (name: string): boolean => names.some((kept) => (kept.endsWith('_') ? name.startsWith(kept) : name === kept));
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && isKept(fold(entry[0])));
  // A value that begins like this is a function of an old shell, and has been a way in.
  const plain = entries.filter(([, value]) => !value.startsWith('()'));
  // Nor what code in a sandbox could have put on the way to a program.
  return Object.fromEntries(plain.map(([name, value]) => [name, fold(name) === 'PATH' ? searchPathOutside(value) : value]));
}
