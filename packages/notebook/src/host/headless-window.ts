import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '@notebridge/sandbox/find-program';
import { startProgram } from '@notebridge/sandbox/start-program';
import { writtenFolderOf } from '@notebridge/sandbox/written-folders';
import { ownTemporaryFolder } from '@notebridge/system/files/temporary-folder';
import { within } from '../kernel/within.js';

export interface HeadlessWindowOptions {
  /** A program of the Chromium family; false for none. Default: the one that is installed, if there is one. */
  program: string | false | undefined;
  /** An address that opens one window. */
  newUrl: () => string;
}

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge', 'chrome', 'msedge'];
const usualPlaces = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
];
/** How long it may take to join, and how long it stays for the next picture. Milliseconds. */
const [joinMs, idleMs] = [20_000, 60_000];
const endMs = 3000;

/** A window that nobody sees, for pictures while no other is open: a browser without a display, begun when it is needed, and ended soon after. */
export class HeadlessWindow {
  readonly #options: HeadlessWindowOptions;
  #browser: Browser | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** One that did not come is not waited for again before this time: each chart would take as long. */
  #retryAt = 0;

  constructor(options: HeadlessWindowOptions) {
    this.#options = options;
  }

  /** False where no browser can be had. */
  async open(): Promise<boolean> {
    if (Date.now() < this.#retryAt) return false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#end(this.#browser), idleMs).unref();
    this.#browser ??= this.#start();
    const browser = this.#browser;
    const isOpen = (await browser?.isOpen) ?? false;
    if (!isOpen) {
      this.#retryAt = Date.now() + idleMs;
      await this.#end(browser);
    }
    return isOpen;
  }

  /** The window is connected. */
  join(): void {
    this.#browser?.join();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#end(this.#browser);
  }

  #start(): Browser | undefined {
    const program = this.#options.program ?? installed();
    if (program === undefined || program === false || this.#isClosed) return undefined;
    const browser = startBrowser(program, this.#options.newUrl().replace('/#', '/?unseen#'));
    void browser.exited.then(() => this.#end(browser));
    return browser;
  }

  async #end(browser: Browser | undefined): Promise<void> {
    if (browser === this.#browser) this.#browser = undefined;
    await browser?.end();
  }
}

interface Browser {
  /** Whether its window connects in time. */
  readonly isOpen: Promise<boolean | undefined>;
  /** Resolves also where it could not be started. */
  readonly exited: Promise<void>;
  join(): void;
  end(): Promise<void>;
}

function startBrowser(program: string, url: string): Browser {
  let settle!: (isOpen: boolean) => void;
  const joined = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  const started = startProcess(program, url);
  const exited = started.then((running) => running.exited).catch(() => {});
  void exited.then(() => settle(false));
  const end = async () => {
    settle(false);
    await (await started.catch(() => undefined))?.end();
  };
  let ended: Promise<void> | undefined;
  return {
    isOpen: within(joinMs, joined),
    exited,
    join: () => settle(true),
    end: () => (ended ??= end()),
  };
}

async function startProcess(program: string, url: string): Promise<{ exited: Promise<void>; end(): Promise<void> }> {
  const folder = await mkdtemp(join(ownTemporaryFolder(writtenFolderOf), 'notebridge-draws-'));
  const child = startProgram(program, argumentsOf(folder, url), {
    // It ends with the pipe, however this process ends.
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  });
  for (const pipe of child.stdio.slice(3)) pipe?.on('error', () => {});
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()));
  const end = async () => {
    await endProgram(child, exited);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
  };
  return { exited, end };
}

function installed(): string | undefined {
  return [...names.map((name) => findProgram(name)), ...usualPlaces.map(programAt)].find((path) => path !== undefined);
}

function programAt(path: string): string | undefined {
  const at = path.lastIndexOf('/');
  return findProgram(path.slice(at + 1), path.slice(0, at));
}

function argumentsOf(folder: string, url: string): string[] {
  return [
    '--headless=new',
    '--remote-debugging-pipe',
    `--user-data-dir=${folder}`,
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-extensions',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-gpu',
    // Charts of many points, and in three dimensions, are drawn by WebGL: here in software.
    '--enable-unsafe-swiftshader',
    '--mute-audio',
    '--window-size=1000,900',
    // Nothing of an output is asked for anywhere; and nothing of the browser's own is.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost',
    // Chromium has no sandbox of its own for root, and does not start without this.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    url,
  ];
}

async function endProgram(child: ChildProcess, exited: Promise<void>): Promise<void> {
  for (const pipe of child.stdio.slice(3)) pipe?.destroy();
  const timer = setTimeout(() => kill(child), endMs);
  await exited;
  clearTimeout(timer);
  kill(child);
}

/** With all that it has started. */
function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // They have ended.
  }
}
