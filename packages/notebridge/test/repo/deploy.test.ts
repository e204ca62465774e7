// @module-tag deep

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { validate as validateDockerfile } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { documentsOf, installTimeoutMs, prepareValidators, validate } from '../support/deployment.js';
import { type Container, containersOf, deployFolder, podsOf } from '../support/manifests.js';
import { createHome, Program } from '../support/program.js';
import { installedServer } from '../support/served-hub.js';

const pods = ['kubernetes/one-pod.yaml', 'kubernetes/two-pods.yaml'];
let folder: string;
beforeAll(async () => {
  await prepareValidators();
  folder = mkdtempSync(join(tmpdir(), 'notebridge-deploy-'));
}, installTimeoutMs);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('deploy/', { timeout: 180_000 }, () => {
  it.each(readdirSync(deployFolder).filter((file) => file.endsWith('.Dockerfile')))('%s is a container file without a fault', (file) => {
    const text = readFileSync(join(deployFolder, file), 'utf8');
    expect(validateDockerfile(text)).toEqual([]);
    // What is copied is there, and no root runs.
    const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));
    for (const path of copied) expect(existsSync(join(deployFolder, '..', path)), path).toBe(true);
    expect(text).toMatch(/^USER 1000:1000$/m);
    expect(text).toMatch(/^HEALTHCHECK /m);
  });

  it('compose.yaml keeps to the Compose specification, and the check would find a fault', async () => {
    const check = (file: string) => validate('check-jsonschema', '--builtin-schema', 'vendor.compose-spec', file);
    expect(await check('compose.yaml')).toMatchObject({ code: 0 });
    const broken = join(folder, 'compose.yaml');
    writeFileSync(broken, readFileSync(join(deployFolder, 'compose.yaml'), 'utf8').replace('networks:', 'netwerks:'));
    expect((await check(broken)).output).toContain('netwerks');
  });

  it.each(pods)('%s keeps to the API of Kubernetes, and the check would find a fault', async (file) => {
    const check = (path: string) => validate('kubernetes-validate', '--strict', path);
    expect(await check(file)).toMatchObject({ code: 0 });
    const broken = join(folder, 'broken.yaml');
    writeFileSync(broken, readFileSync(join(deployFolder, file), 'utf8').replace('volumeMounts:', 'volumeMonts:'));
    expect(await check(broken)).not.toMatchObject({ code: 0 });
  });

  it('every config is one that the hub takes, and all of them have the servers of mcp.json', async () => {
    const written = readFileSync(join(deployFolder, 'mcp.json'), 'utf8');
    const maps = (await Promise.all(pods.map(documentsOf))).flat().filter(({ kind }) => kind === 'ConfigMap');
    const texts = [written, ...maps.map(({ data }) => String((data as JsonObject)['mcp.json']))];
    expect(texts).toHaveLength(3);
    const configs = await Promise.all(texts.map((text, index) => configOf(`${index}.json`, text)));
    for (const { servers } of configs) expect(servers).toEqual(configs[0]?.servers);
    expect(configs[2]?.exchange).toMatchObject([{ audience: 'notebridge', subject: 'system:serviceaccount:notebridge:jupyter' }]);
  });

  it('every command of ours in manifests and container files runs as it is written', { timeout: 300_000, tags: ['P-018'] }, async () => {
    const compose = (await documentsOf('compose.yaml'))[0]?.services as Record<string, { image: string; command?: string[] }>;
    const inImage = JSON.parse(/^CMD (.+)$/m.exec(readFileSync(join(deployFolder, 'hub.Dockerfile'), 'utf8'))?.[1] ?? '') as string[];
    const inPods = (await Promise.all(pods.map(documentsOf))).flatMap(podsOf).flatMap(containersOf);
    const isHub = ({ image }: Pick<Container, 'image'>): boolean => image === 'notebridge-hub';
    const commands = [
      inImage,
      ...inPods.filter(isHub).map(({ args }) => args ?? []),
      ...Object.values(compose)
        .filter(isHub)
        .map(({ command }) => command ?? []),
    ];
    expect(commands.map(([first]) => first).sort()).toEqual(['grant', 'grant', 'serve', 'serve', 'serve', 'serve']);
    for (const command of commands) await runs(command);
  });
});

it('front.py passes on what comes to its port, both ways, and the end of each direction', {
  timeout: 60_000,
  tags: ['P-724'],
}, async () => {
  const jupyter = createServer({ allowHalfOpen: true }, (socket) => {
    let asked = '';
    socket.on('data', (piece) => {
      asked += piece;
    });
    // Answers once the other side has said all.
    socket.on('end', () => socket.end(`heard ${asked.length}: ${'x'.repeat(200_000)}`));
  });
  await new Promise<void>((resolve) => jupyter.listen(0, '127.0.0.1', resolve));
  const { port } = jupyter.address() as AddressInfo;
  const front = spawn(await prepareValidators(), [join(deployFolder, 'front.py'), '0', `127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(front, 'exit');
  try {
    const [said] = (await once(front.stderr.setEncoding('utf8'), 'data')) as [string];
    const dial = connect({ host: '127.0.0.1', port: Number(/port (\d+)/.exec(said)?.[1]), allowHalfOpen: true });
    dial.end('q'.repeat(300_000));
    let answer = '';
    for await (const piece of dial.setEncoding('utf8')) answer += piece;
    expect(answer).toBe(`heard 300000: ${'x'.repeat(200_000)}`);
    front.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    front.kill('SIGKILL');
    await ended;
    jupyter.close();
  }
});

/** Starts it with the folders of the container put elsewhere, and any free port; it must come up. */
async function runs(command: readonly string[]): Promise<void> {
  const { home, env } = createHome();
  const inHome = (word: string): string => word.replace(/^\/(?=etc|run|mnt|srv)/, `${home}/`).replace('$(HUB_SERVICE_HOST)', '10.96.0.7');
  for (const path of ['etc/notebridge', 'run/notebridge', 'mnt/shared-agent']) mkdirSync(join(home, path), { recursive: true });
  writeFileSync(join(home, 'etc/notebridge/mcp.json'), JSON.stringify({ mcpServers: { everything: installedServer('everything') } }));
  const port = command[0] === 'serve' ? ['--port', '0'] : [];
  const program = new Program({ args: [...command.map(inHome), ...port], env });
  try {
    const sign = command[0] === 'serve' ? '"msg":"Serving."' : 'is renewed there';
    await program.until(() => program.stderr.includes(sign) || program.child.exitCode !== null);
    expect(program.stderr, command.join(' ')).toContain(sign);
  } finally {
    program.child.kill('SIGTERM');
    await program.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function configOf(name: string, text: string): ReturnType<typeof loadConfig> {
  const file = join(folder, name);
  writeFileSync(file, text);
  return loadConfig({ file, env: {} });
}
