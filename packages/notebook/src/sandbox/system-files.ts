import { existsSync } from 'node:fs';

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
