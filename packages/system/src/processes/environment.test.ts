import { describe, expect, it } from 'vitest';
import { describeEnvironment, type EnvironmentReads, type Surroundings, sshForwardHint } from './environment.js';

const bare: EnvironmentReads = { env: {}, platform: 'linux', exists: () => false, readText: () => '' };
const nowhere: Surroundings = { ssh: false, wsl: false, container: false, display: false };
const wslKernel = (): string => 'Linux version 5.15.90.1-microsoft-standard-WSL2';

describe('describeEnvironment', () => {
  const cases: [string, EnvironmentReads, Partial<Surroundings>][] = [
    ['a bare Linux', {}, {}],
    ['Linux with X11', { env: { DISPLAY: ':0' } }, { display: true }],
    ['Linux with Wayland', { env: { WAYLAND_DISPLAY: 'wayland-0' } }, { display: true }],
    ['an empty DISPLAY', { env: { DISPLAY: '' } }, {}],
    ['SSH', { env: { SSH_CONNECTION: '10.0.0.1 5 10.0.0.2 22' } }, { ssh: true }],
    ['SSH with a terminal', { env: { SSH_TTY: '/dev/pts/1' } }, { ssh: true }],
    ['SSH with X11 forwarding', { env: { SSH_TTY: '/dev/pts/1', DISPLAY: 'localhost:10.0' } }, { ssh: true, display: true }],
    ['macOS', { platform: 'darwin' }, { display: true }],
    ['macOS over SSH', { platform: 'darwin', env: { SSH_TTY: '/dev/ttys1' } }, { ssh: true }],
    ['Windows', { platform: 'win32' }, { display: true }],
    ['Docker', { exists: (path) => path === '/.dockerenv' }, { container: true }],
    ['Podman', { exists: (path) => path === '/run/.containerenv' }, { container: true }],
    ['Kubernetes', { env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } }, { container: true }],
    ['a container with X11', { exists: () => true, env: { DISPLAY: ':0' } }, { container: true, display: true }],
    ['WSL by its name', { env: { WSL_DISTRO_NAME: 'Ubuntu' } }, { wsl: true, display: true }],
    ['WSL by its kernel', { readText: wslKernel }, { wsl: true, display: true }],
    ['a container inside WSL', { readText: wslKernel, exists: () => true }, { container: true }],
  ];

  it.each(cases)('describes %s', (_name, reads, expected) => {
    expect(describeEnvironment({ ...bare, ...reads })).toEqual({ ...nowhere, ...expected });
  });

  it('describes the running process by default', () => {
    expect(Object.keys(describeEnvironment())).toEqual(['ssh', 'wsl', 'container', 'display']);
  });
});

describe('sshForwardHint', () => {
  it.each([
    [{ SSH_CONNECTION: '10.0.0.1 50000 10.0.0.2 22', USER: 'ada' }, 'ssh -L 8765:localhost:8765 ada@10.0.0.2'],
    [{ SSH_CONNECTION: '10.0.0.1 50000 fe80::2%eth0 2222', LOGNAME: 'ada' }, 'ssh -L 8765:localhost:8765 -p 2222 ada@fe80::2%eth0'],
    [{}, 'ssh -L 8765:localhost:8765 <user>@<this machine>'],
    [{ USER: 'a; rm -rf /', SSH_CONNECTION: '$(x) `y` ; |' }, 'ssh -L 8765:localhost:8765 <user>@<this machine>'],
  ])('makes of %j a line to paste', (env, line) => {
    expect(sshForwardHint(8765, env)).toBe(line);
  });
});
