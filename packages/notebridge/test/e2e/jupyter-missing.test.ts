// @module-tag P-685

import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SharedHome } from '../support/broker.js';
import { callTool } from '../support/call-tool.js';
import { Program } from '../support/program.js';

/** A folder with a notebook, and where Jupyter's servers say that they run. */
async function prepare(home: SharedHome) {
  const [folder, runtime] = [join(home.folder, 'work'), join(home.folder, 'runtime')];
  for (const path of [folder, runtime]) await mkdir(path);
  const file = join(folder, 'mine.ipynb');
  await writeFile(file, '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n');
  const env = { ...home.env, JUPYTER_RUNTIME_DIR: runtime };
  return { folder, runtime, file, env };
}

async function connectAll(program: Program, file: string): Promise<string[]> {
  const named = ['mine.ipynb', file];
  const answers = await Promise.all(named.map((notebook) => callTool(program, 'connect_notebook', { notebook })));
  const { notebooks } = (await callTool(program, 'list_notebooks')) as { notebooks: object[] };
  expect(notebooks).toEqual([]);
  return answers.map((answer) => JSON.stringify(answer));
}

it('an agent that was sent to Jupyter is told that no server runs, and gets no other kernel on the file', async () => {
  await using home = new SharedHome();
  const { folder, file, env } = await prepare(home);
  await using program = await Program.open({ args: ['--notebook', 'jupyter'], env, cwd: folder });
  for (const answer of await connectAll(program, file)) expect(answer).toMatch(/No Jupyter server of yours runs.*jupyter lab/);
});

it('one whose server has a password is told how it is started', async () => {
  await using home = new SharedHome();
  const { folder, runtime, file, env } = await prepare(home);
  const server = createServer((_, response) => response.writeHead(403).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const about = { url: `http://127.0.0.1:${port}/`, pid: process.pid, root_dir: folder, token: '', password: true };
  await writeFile(join(runtime, `jpserver-${process.pid}.json`), JSON.stringify(about));
  await using program = await Program.open({ args: ['--notebook', 'jupyter'], env, cwd: folder });
  for (const answer of await connectAll(program, file)) expect(answer).toMatch(/password.*jupyter lab --IdentityProvider\.token/);
  server.closeAllConnections();
  server.close();
});
