// @module-tag P-210

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callTool, startHost } from '../host/support/hosts.js';
import { bareUser, sciencePython, temporaryProject } from './support/projects.js';

const listModules = `
import pkgutil, sys
print("\\n".join(sorted(name for name in {*sys.stdlib_module_names, *(m.name for m in pkgutil.iter_modules())} if not name.startswith("__"))))
`;

it('an own Python starts without a look at the notebook’s folder, and the first cell finds the modules there', {
  timeout: 120_000,
}, async () => {
  const python = await sciencePython();
  const project = temporaryProject();
  const marks = join(project, 'marks');
  mkdirSync(marks);
  const names = execFileSync(python, ['-c', listModules], { encoding: 'utf8' }).trim().split('\n');
  // A module of each name that this Python knows: whatever the start imports, there is one of it in the folder.
  for (const name of names)
    writeFileSync(
      join(project, `${name}.py`),
      `open(${JSON.stringify(join(marks, name))}, "w").close()\nraise ImportError("of the folder")\n`,
    );
  writeFileSync(join(project, 'helpers_of_mine.py'), `open(${JSON.stringify(join(marks, 'mine'))}, "w").close()\nanswer = 42\n`);
  const env = { ...bareUser(join(project, 'home')), VIRTUAL_ENV: '' };
  const host = await startHost({ file: join(project, 'a.ipynb'), kernel: undefined, sandbox: 'off', kernels: { wanted: python, env } });
  await host.session.start();
  expect(names.length).toBeGreaterThan(200);
  expect(names.filter((name) => existsSync(join(marks, name)))).toEqual([]);
  const ran = await callTool(host, 'run_code', { code: 'import helpers_of_mine\nhelpers_of_mine.answer' });
  expect(ran).toMatchObject({ status: 'ok', outputs: [{ data: { 'text/plain': ['42'] } }] });
  expect(existsSync(join(marks, 'mine'))).toBe(true);
});
