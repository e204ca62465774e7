import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { bareEnvironment } from './bare-environment.js';
import { programFile } from './program.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** What can be looked at of snippets that need another machine, a container engine or a cluster; `folder` is the home of the reader. */
export function elsewhereRuns(folder: string): Record<string, (code: string) => Promise<void>> {
  return {
    /** Only its shape can be looked at here. */
    async 'needs-another-machine'(code) {
      expect(code).toMatch(/^ssh -L (\d+):localhost:\1 /);
    },
    /** Whether the files that it names are there; test/repo/deploy.test.ts looks into them. */
    async 'needs-a-container-engine'(code) {
      const files = [...code.matchAll(/^docker (?:compose|build) --file (\S+)/gm)].map(([, file = '']) => join(root, file));
      const others = code.split('\n').filter((line) => !/^docker push registry\.example\/\S+$/.test(line));
      expect(files).toHaveLength(others.length);
      for (const file of files) expect(readFileSync(file, 'utf8')).toMatch(/^\s+jupyter:$|--tag notebridge-/m);
    },
    /** Whether what it names stands in the manifests; commands of ours in it are run. */
    async 'needs-a-cluster'(code) {
      const manifest = `deploy/kubernetes/${code.includes('--namespace') ? 'two-pods' : 'one-pod'}.yaml`;
      const text = readFileSync(join(root, manifest), 'utf8');
      for (const line of code.split('\n')) {
        expect(line).toMatch(/^kubectl /);
        for (const [, file] of line.matchAll(/--filename (\S+)/g)) expect(file).toBe(manifest);
        for (const [, kind, name] of line.matchAll(/\b(pod|deployment)\/(\S+)/g))
          expect(text).toMatch(new RegExp(`^kind: ${kind}$[^]*?^  name: ${name}$`, 'im'));
        for (const [, name] of line.matchAll(/(?:--container|configmap) ([\w-]+)/g)) expect(text).toMatch(new RegExp(`name: ${name}\\b`));
        for (const [, port] of line.matchAll(/port-forward \S+ (\d+):\1/g)) expect(text).toContain(`--ServerApp.port=${port}`);
        const [, own] = / -- notebridge (.+)/.exec(line) ?? [];
        if (own === undefined) continue;
        // There is no grant of that name: what it says of it shows that it was understood.
        const ran = promisify(execFile)(process.execPath, [programFile, ...own.split(' ')], {
          env: { ...bareEnvironment(), HOME: folder },
        });
        await (own.endsWith('ID') ? expect(ran).rejects.toThrow(/"ID"/) : ran);
      }
    },
  };
}
