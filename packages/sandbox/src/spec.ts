import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/**
 * `require`: a kernel starts in a sandbox that was seen to work, or not at all. `auto`: in one where it works, else without, and says
 * so. `off`: without.
 */
export type SandboxMode = 'require' | 'auto' | 'off';

/** What code gets of the folder of its notebook in a sandbox: nothing, its files to read, or to write as well. */
export type FolderAccess = 'none' | 'ro' | 'rw';

/** Something that this program runs, imports or takes as configuration. */
export interface RunPlace {
  readonly path: string;
  /** In words for people: `the program of the server "github"`. */
  readonly what: string;
  /** True: `path` is a folder, and all that is in it counts too. Default false. */
  readonly isFolder?: boolean | undefined;
}

/** A folder of the machine that a program gets at the same path, with what is below. */
export interface Mount {
  readonly path: string;
  readonly access: Exclude<FolderAccess, 'none'>;
}

/** What a program is given in a sandbox. All else is not there: no file, no process, no device, no variable. */
export interface SandboxSpec {
  /** The program, by absolute path, and its arguments. The program's own file may be read. */
  readonly command: readonly [string, ...string[]];
  /** Files and folders that may be read, by absolute path, and are found there. */
  readonly readable: readonly string[];
  /** Where it begins: one of the folders in `readable` or `mounts`, or, with `programs`, one below `/tmp`. */
  readonly folder: string;
  /** The machine's network, all of it. Default false: one of its own, with nothing in it. */
  readonly network?: boolean | undefined;
  /** Memory that it may write to, in bytes; with `programs` of each one, and of all together. Default: see limits.ts. */
  readonly maxDataBytes?: number | undefined;
  /**
   * It starts other programs: those of the system, which it may read. It gets what they need: some devices, and an empty `/tmp`, home and
   * `/dev/shm` of bounded size. Default false.
   */
  readonly programs?: boolean | undefined;
  /** Folders of people. Only with `programs`; `readable` comes after them, and stays readable alone. */
  readonly mounts?: readonly Mount[] | undefined;
  /** Files and folders, by their real paths, that are empty inside: what nobody may read, though it is below `mounts` or `readable`. */
  readonly hidden?: readonly string[] | undefined;
  /** Files and folders below `mounts` that stay readable alone. */
  readonly kept?: readonly string[] | undefined;
  /** A way out of the network's namespace: a socket of ours, and where it is inside, with the servers that it reaches, in words. */
  readonly relay?: { readonly socket: string; readonly inside: string; readonly servers: readonly string[] } | undefined;
  /** Its variables, with `programs`. They can be read by everybody on the machine: no secrets. */
  readonly environment?: { readonly [name: string]: string } | undefined;
  /** Processes at once, with `programs`. Default: 512. */
  readonly maxProcesses?: number | undefined;
  /** Of `/tmp`, the home and `/dev/shm`, of each, in bytes. Default: 1 GiB, or an eighth of `maxDataBytes`. */
  readonly maxTemporaryBytes?: number | undefined;
}

export interface SandboxedProcess {
  /** Its end is the end of everything inside, and the other way round. Its exit code is the program's, or 128 and the signal. */
  readonly child: ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };
  /** The program's process id as seen from here. Undefined where it never started, or is not known. */
  readonly pid: Promise<number | undefined>;
  /** After its end: nothing that it was bounded by is left on the machine either. Undefined where there was nothing. */
  readonly gone?: Promise<void> | undefined;
  /** Why it was ended by us, in words for people: a bound that it went beyond. Undefined where that is not why. */
  readonly breach?: () => string | undefined;
}

/** A kind of sandbox that this machine may have. */
export interface Sandbox {
  /** What it is made of: a program's name. */
  readonly name: string;
  /** False: nobody has tried it out, so it counts for nothing. */
  readonly isTested: boolean;
  launch(spec: SandboxSpec): SandboxedProcess;
  /** What is not as it has to be, once the program runs. Empty: it is in force. */
  findFaults(sandboxed: SandboxedProcess, spec: SandboxSpec): Promise<string[]>;
}
