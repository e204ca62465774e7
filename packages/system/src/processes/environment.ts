import { existsSync, readFileSync } from 'node:fs';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Those of the variables that are set. */
export function pick(env: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const])));
}

/** Where this program runs, as far as it matters for opening a browser. */
export interface Surroundings {
  /** Inside an SSH session: the person sits at another machine. */
  ssh: boolean;
  /** Inside the Windows Subsystem for Linux, but not in a container there. */
  wsl: boolean;
  /** Inside a container (Docker, Podman, Kubernetes): other machines cannot reach its loopback address. */
  container: boolean;
  /** A window that is opened here can be seen by the person. */
  display: boolean;
}

/** Every read that the description needs; each has the running process as default. */
export interface EnvironmentReads {
  env?: Environment;
  platform?: NodeJS.Platform;
  exists?: (path: string) => boolean;
  /** The text of a file, empty if it cannot be read. */
  readText?: (path: string) => string;
}

export function describeEnvironment(reads: EnvironmentReads = {}): Surroundings {
  const { env = process.env, platform = process.platform, exists = existsSync, readText = readOrEmpty } = reads;
  const has = (name: string): boolean => (env[name] ?? '') !== '';
  const ssh = has('SSH_CONNECTION') || has('SSH_TTY') || has('SSH_CLIENT');
  const container = platform === 'linux' && (exists('/.dockerenv') || exists('/run/.containerenv') || has('KUBERNETES_SERVICE_HOST'));
  const microsoft = platform === 'linux' && (has('WSL_DISTRO_NAME') || /microsoft/i.test(readText('/proc/version')));
  const wsl = microsoft && !container;
  // X11 and Wayland forward their windows, also through SSH; other systems open them on their own screen, and WSL on that of Windows.
  const forwarded = has('DISPLAY') || has('WAYLAND_DISPLAY');
  const display = platform === 'darwin' || platform === 'win32' || wsl ? !ssh : forwarded;
  return { ssh, wsl, container, display };
}

/**
 * The command that makes a port of this machine reachable on the person's own, to be run there: `ssh -L 8765:localhost:8765 me@host`.
 * User and host come from the SSH session; what is unknown stays a `<placeholder>`.
 */
export function sshForwardHint(port: number, env: Environment = process.env): string {
  const [, , address = '', sshPort = ''] = (env.SSH_CONNECTION ?? '').split(' ');
  const option = /^\d+$/.test(sshPort) && sshPort !== '22' ? ` -p ${sshPort}` : '';
  return `ssh -L ${port}:localhost:${port}${option} ${plainOr(env.USER ?? env.LOGNAME, '<user>')}@${plainOr(address, '<this machine>')}`;
}

/** Only what a shell takes as it stands: the line is there to be pasted. */
function plainOr(text: string | undefined, placeholder: string): string {
  return text !== undefined && /^[\w.:%@-]+$/.test(text) ? text : placeholder;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
