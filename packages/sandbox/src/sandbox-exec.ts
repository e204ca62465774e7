import type { SpawnOptions } from 'node:child_process';
import type { Sandbox, SandboxedProcess, SandboxSpec } from './spec.js';
import { startProgram } from './start-program.js';

/** The sandbox of macOS, by its own program. UNTESTED: nobody of us has run it, so it never counts as active. */
export function createSandboxExec(): Sandbox {
  return {
    name: 'sandbox-exec',
    isTested: false,
    launch(spec) {
      if (spec.programs) throw new Error('there is no sandbox yet on macOS for a kernel that starts programs');
      const args = ['-p', toProfile(spec), ...spec.command];
      const options = { env: {}, cwd: spec.folder, stdio: ['pipe', 'pipe', 'pipe'] } satisfies SpawnOptions;
      const child = startProgram('/usr/bin/sandbox-exec', args, options) as SandboxedProcess['child'];
      return { child, pid: Promise.resolve(child.pid) };
    },
    findFaults: async () => [],
  };
}

function toProfile({ command, readable, network = false }: SandboxSpec): string {
  const subpaths = ['/usr/lib', '/System', command[0], ...readable].map((path) => `(subpath ${JSON.stringify(path.replace(/\/$/, ''))})`);
  return [
    '(version 1)',
    '(deny default)',
    `(allow process-exec (literal ${JSON.stringify(command[0])}))`,
    '(allow sysctl-read)',
    '(allow file-read-metadata)',
    `(allow file-read* (literal "/") (literal "/dev/urandom") (literal "/dev/null") ${subpaths.join(' ')})`,
    ...(network ? ['(allow network-outbound)', '(allow mach-lookup)'] : []),
  ].join('\n');
}
