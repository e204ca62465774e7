import { existsSync } from 'node:fs';
import { isAbsolute, normalize } from 'node:path';

/** What the programs of a system need to begin: themselves, their libraries, and some of its settings. Nothing of it is about people. */
export function findSystemFiles(): string[] {
  return [...folders, ...settings].filter((path) => existsSync(path));
}

const folders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store', '/run/current-system/sw'];

const settings = [
  'alternatives',
  'ca-certificates.conf',
  'ca-certificates',
  'crypto-policies/back-ends',
  'debian_version',
  'fonts',
  'jupyter',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'localtime',
  'magic',
  'mime.types',
  'os-release',
  'pki/ca-trust/extracted',
  'pki/tls/certs',
  'profile.d/lang.sh',
  'R',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
].map((name) => `/etc/${name}`);

/** Files that are made for the sandbox, in place of the machine's, which name its users and neighbours. */
export const writtenFiles: readonly (readonly [path: string, text: string])[] = [
  ['/etc/passwd', 'nobody:x:65534:65534:nobody:/run/home:/bin/sh\n'],
  ['/etc/group', 'nogroup:x:65534:\n'],
  ['/etc/hosts', '127.0.0.1 localhost notebridge\n::1 localhost\n'],
  ['/etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files\n'],
];

/** The machine's devices that programs get: those that bubblewrap has in its `/dev`. */
export const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);
/** Terminals of their own, which shells are run in. */
export const terminals = '/dev/pts';
/** File systems in memory, of bounded size. */
export const homeInside = '/run/home';
export const temporaryInside = '/tmp';
export const temporaryFolders = [temporaryInside, '/dev/shm', homeInside];

/** Where Debian keeps the parts of Node that it does not compile in. */
const distributed = '/usr/share/nodejs';
/** The list of libraries outside the system's usual folders. */
const libraryList = '/etc/ld.so.cache';
const usualFolders = /^(\/usr)?\/lib/;

/** What this Node was linked with, the loader included, by the paths where the loader looks for it. */
export function findSharedLibraries(): string[] {
  const { report } = process;
  // Otherwise it looks up the names of everybody we are connected with.
  const { excludeNetwork } = report as { excludeNetwork?: boolean };
  Object.assign(report, { excludeNetwork: true });
  const { sharedObjects } = report.getReport() as { sharedObjects: string[] };
  Object.assign(report, { excludeNetwork });
  const libraries = sharedObjects.filter((path) => isAbsolute(path) && !path.endsWith('.node')).map((path) => normalize(path));
  const more = [distributed, ...(libraries.every((path) => usualFolders.test(path)) ? [] : [libraryList])];
  return [...libraries, ...more.filter((path) => existsSync(path))];
}
