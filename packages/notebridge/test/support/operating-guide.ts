import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { conventionsCommit } from '../../src/telemetry/conventions.js';
import { otlpPackages } from '../../src/telemetry/load-otlp.js';
import { installedServer, ServedHub } from './served-hub.js';

type Shell = (code: string, env: Record<string, string>) => Promise<{ stdout: string | Buffer }>;

/** What is done with the snippets of docs/operating.md. */
export function operatingRuns(shell: Shell): Record<string, (code: string) => Promise<void>> {
  return {
    async 'operating-status'(code) {
      await using hub = await ServedHub.start({
        servers: { fs: installedServer('filesystem', ['${HOME}']) },
        args: ['--notebook', 'none'],
      });
      await hub.logged('running on stdio');
      const { stdout } = await shell(code, hub.env);
      expect(stdout).toContain(`Hub      ${hub.url}`);
      expect(stdout).toMatch(/^Servers {2}1, [01] running: fs$/m);
      expect(stdout).toMatch(/Serving\. \(url: /);
    },
    /** test/e2e/traces.test.ts has the rest of it. */
    async 'operating-traces'(code) {
      expect(code.replaceAll('\\\n', '').split(/\s+/)).toEqual(['npm', 'install', ...otlpPackages]);
      const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      const { peerDependencies } = JSON.parse(read('package.json')) as { peerDependencies: Record<string, string> };
      const ranges = Object.entries(peerDependencies).map(
        ([name, range]) => `${name}@${range.replace('^', '').replace(/^([1-9]\d*|0\.\d+).*/, '$1')}`,
      );
      expect(ranges.sort()).toEqual([...otlpPackages].sort());
      expect(read('../../docs/operating.md')).toContain(conventionsCommit);
    },
    async 'operating-console'(code) {
      await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
      // On a machine without a screen the address is printed.
      const { stdout } = await shell(code, { ...hub.env, BROWSER: '', DISPLAY: '', WAYLAND_DISPLAY: '' });
      expect(stdout).toMatch(new RegExp(`^${hub.url}/console#code=`));
    },
  };
}
