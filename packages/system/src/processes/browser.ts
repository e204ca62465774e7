import type { ChildProcess } from 'node:child_process';
import { basename } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { type LaunchOutcome, launchDetached, parseBrowserVariable, watchLaunch } from './browser-command.js';
import { describeEnvironment, type Environment, type Surroundings } from './environment.js';

/** What came of opening a browser. `hint` is for the person: why not, and what to do; it never contains the URL. */
export type BrowserResult = { opened: true; by: string } | { opened: false; reason: BrowserObstacle; hint: string };

export type BrowserObstacle = 'no_display' | 'ssh' | 'wsl' | 'container' | 'command_failed';

export interface OpenBrowserOptions {
  /** Default: that of the process. */
  env?: Environment;
  platform?: NodeJS.Platform;
  /** How long a launcher is watched for a failure, in milliseconds. Default 1500. */
  timeoutMs?: number;
  /** Starts the system's own browser. Default: `xdg-open` on Linux, elsewhere the `open` package. */
  openWithSystem?: (url: string) => Promise<ChildProcess> | ChildProcess;
  /** Default: looked up. */
  surroundings?: Surroundings;
  /**
   * Writes a private file that leads to a URL, and gives its address. For a URL that opens something: every user reads with which arguments a
   * program was started. Used where the system does not tell whose a connection is, so that who has read the URL could use it. Default: none.
   */
  leadTo?: ((url: string) => Promise<string>) | undefined;
}

/**
 * Opens a URL in the person's browser, and says honestly whether that worked: `BROWSER` first, else the system's own browser
 * where there is a screen to show it on. A launcher that still runs, or ended well, counts as opened. Never throws for a browser
 * that does not start.
 *
 * @throws BridgeError `bad_origin` for anything but an http or https URL: other schemes can start programs.
 */
export async function openBrowser(url: string, options: OpenBrowserOptions = {}): Promise<BrowserResult> {
  const { env = process.env, platform = process.platform } = options;
  assertWebUrl(url);
  if (options.leadTo !== undefined && platform !== 'linux') {
    const { leadTo, ...others } = options;
    return openTarget(await leadTo(url), others);
  }
  // A browser on Windows reads no file of ours.
  if (options.leadTo !== undefined && (options.surroundings ?? describeEnvironment({ env, platform })).wsl) return notOpened('wsl');
  return openTarget(url, options);
}

async function openTarget(url: string, options: OpenBrowserOptions): Promise<BrowserResult> {
  const { env = process.env, platform = process.platform, timeoutMs = 1500, openWithSystem } = options;
  const variable = env.BROWSER ?? '';
  // Asked for by name, so tried wherever we are: remote editors set it to a helper that opens the browser at the person's end.
  if (variable.trim() !== '') return openWithVariable(parseBrowserVariable(variable, url), env, timeoutMs);
  const surroundings = options.surroundings ?? describeEnvironment({ env, platform });
  if (!surroundings.display) return notOpened(obstacleOf(surroundings));
  // The package would start xdg-open with our whole PATH, where that looks for a dozen programs.
  const withDesktop = platform === 'linux' && !surroundings.wsl ? (): ChildProcess => launchDetached(['xdg-open', url], env) : undefined;
  return launchSystemBrowser(() => openWithSystem?.(url) ?? withDesktop?.() ?? openWithPackage(url), surroundings, timeoutMs);
}

function assertWebUrl(url: string): void {
  const scheme = URL.canParse(url) ? new URL(url).protocol : '';
  if (scheme === 'http:' || scheme === 'https:') return;
  throw new BridgeError(
    'bad_origin',
    `Not opening a ${scheme === '' ? 'text that is no URL' : `"${scheme}" URL`}: only http and https are opened in a browser.`,
  );
}

/** Tries the commands in their order until one does not fail. */
async function openWithVariable(commands: string[][], env: Environment, timeoutMs: number): Promise<BrowserResult> {
  const failures: string[] = [];
  for (const words of commands) {
    const name = basename(words[0] ?? '');
    const outcome = await launch(words, env, timeoutMs);
    if (outcome.kind !== 'failed') return { opened: true, by: name };
    failures.push(`"${name}": ${outcome.why}`);
  }
  const found = failures.length === 0 ? 'BROWSER names no command.' : `BROWSER could not be used (${failures.join('; ')}).`;
  return notOpened('command_failed', found);
}

async function launch(words: readonly string[], env: Environment, timeoutMs: number): Promise<LaunchOutcome> {
  try {
    return await watchLaunch(launchDetached(words, env), timeoutMs);
  } catch (error) {
    return { kind: 'failed', why: messageOf(error) };
  }
}

async function launchSystemBrowser(
  open: () => Promise<ChildProcess> | ChildProcess,
  { wsl }: Surroundings,
  timeoutMs: number,
): Promise<BrowserResult> {
  const reason = wsl ? 'wsl' : 'command_failed';
  try {
    const opening = open();
    // One that cannot be started says so before anything that is awaited goes on.
    const child = opening instanceof Promise ? await opening : opening;
    const by = basename(child.spawnfile);
    const outcome = await watchLaunch(child, timeoutMs);
    return outcome.kind === 'failed' ? notOpened(reason, `"${by}" found no browser (${outcome.why}).`) : { opened: true, by };
  } catch (error) {
    return notOpened(reason, `No browser could be started (${error instanceof Error ? error.message : String(error)}).`);
  }
}

async function openWithPackage(url: string): Promise<ChildProcess> {
  const { default: open } = await import('open');
  return open(url);
}

function obstacleOf({ ssh, container }: Surroundings): BrowserObstacle {
  if (ssh) return 'ssh';
  return container ? 'container' : 'no_display';
}

function notOpened(reason: BrowserObstacle, found = ''): BrowserResult {
  return { opened: false, reason, hint: `${found} ${advice[reason]}`.trim() };
}

const advice: Record<BrowserObstacle, string> = {
  no_display: 'There is no screen here: open the address by hand.',
  ssh: 'This is an SSH session: forward the port to your machine, and open the address there.',
  wsl: 'Open the address by hand in a browser on Windows.',
  // Publishing the port does not reach a loopback address inside.
  container: 'This is a container: start it with --network host, or forward the port into it; then open the address outside.',
  command_failed: 'Open the address by hand, or set BROWSER to the command of a browser.',
};
