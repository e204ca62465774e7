import { appendFile, mkdir, mkdtemp, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { BridgeError } from '@notebridge/protocol/core/errors';
import { AsyncEvent } from '@notebridge/protocol/util/async-event';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Config } from './config.js';
import { loadConfig } from './load-config.js';
import { ConfigWatch, type WatchConfigOptions } from './watch-config.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'notebridge-watch-'));
  file = join(folder, 'mcp.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const withServer = (name: string): string => JSON.stringify({ mcpServers: { [name]: { command: 'x' } } });
const namesOf = (config: Config): string[] => config.servers.map(({ name }) => name);

/** Watches, and gives what was reported one after the other: names of servers, faults, `mended`. */
async function watch({
  describe: say = namesOf,
  ...options
}: Partial<WatchConfigOptions> & { describe?: (config: Config, previous: Config) => string[] | string } = {}) {
  const path = options.file ?? file;
  const told: (string[] | string)[] = [];
  const arrived = new AsyncEvent();
  let taken = 0;
  const notify = (what: string[] | string): void => {
    told.push(what);
    arrived.set();
  };
  const current = await loadConfig({ file: path, env: {} }).catch(() => loadConfig({ env: { XDG_CONFIG_HOME: join(folder, 'none') } }));
  const watching = new ConfigWatch({
    file: path,
    env: {},
    current,
    onChange: (config, previous) => notify(say(config, previous)),
    onFault: (error: BridgeError) => notify(error.message.replaceAll(path, 'F')),
    onMended: () => notify('mended'),
    ...options,
  });
  onTestFinished(() => watching.close());
  await watching.ready;
  const next = async (): Promise<string[] | string> => {
    while (told.length <= taken) {
      arrived.clear();
      expect(await arrived.wait(20_000), 'something was reported within 20 s').toBe(true);
    }
    return told[taken++] ?? '';
  };
  return { next, told, close: () => watching.close() };
}

describe('watchConfig', () => {
  it.each([false, true])('reports an edit in place (polling: %s)', { tags: ['deep'] }, async (polling) => {
    await writeFile(file, withServer('one'));
    const { next } = await watch({ polling });
    await writeFile(file, withServer('two'));
    expect(await next()).toEqual(['two']);
    await appendFile(file, '// more\n');
    await writeFile(file, withServer('three'));
    expect(await next()).toEqual(['three']);
  });

  it('gives what held before, and reports no edit that changes nothing', async () => {
    await writeFile(file, withServer('one'));
    const { next, told } = await watch({ describe: (config, previous) => `${namesOf(previous)} to ${namesOf(config)}` });
    await writeFile(file, withServer('two'));
    expect(await next()).toBe('one to two');
    await writeFile(file, `// a comment\n${withServer('two')}`);
    await rename(file, `${file}.bak`);
    await rename(`${file}.bak`, file);
    await writeFile(file, withServer('three'));
    expect(await next()).toBe('two to three');
    expect(told).toHaveLength(2);
  });

  it('follows a file that editors replace by another, again and again', { tags: ['P-025'] }, async () => {
    await writeFile(file, withServer('one'));
    const { next, told } = await watch();
    for (const name of ['two', 'three', 'four']) {
      await writeFile(`${file}~`, withServer(name));
      await rename(`${file}~`, file);
      expect(await next()).toEqual([name]);
    }
    expect(told).toHaveLength(3);
  });

  it('follows an editor that first moves the old file away', { tags: ['deep'] }, async () => {
    await writeFile(file, withServer('one'));
    const { next } = await watch();
    await rename(file, `${file}.bak`);
    await writeFile(file, withServer('two'));
    expect(await next()).toEqual(['two']);
  });

  it('follows the links of a Kubernetes volume, which swaps one of them', { tags: ['P-025'] }, async () => {
    const publish = async (version: string): Promise<void> => {
      await mkdir(join(folder, `..${version}`));
      await writeFile(join(folder, `..${version}`, 'mcp.json'), withServer(version));
      const before = await readlink(join(folder, '..data')).catch(() => undefined);
      await symlink(`..${version}`, join(folder, '..data_tmp'));
      await rename(join(folder, '..data_tmp'), join(folder, '..data'));
      if (before !== undefined) await rm(join(folder, before), { recursive: true });
    };
    await publish('v1');
    await symlink(join('..data', 'mcp.json'), file);
    const { next } = await watch();
    for (const version of ['v2', 'v3', 'v4']) {
      await publish(version);
      expect(await next()).toEqual([version]);
    }
  });

  it('follows a link to a file in another folder, and the link itself', { tags: ['P-025'] }, async () => {
    const [one, two] = [join(folder, 'dotfiles', 'mcp.json'), join(folder, 'other', 'mcp.json')];
    for (const target of [one, two]) await mkdir(dirname(target));
    await writeFile(one, withServer('one'));
    await writeFile(two, withServer('other'));
    await symlink(one, file);
    const { next } = await watch();
    await writeFile(one, withServer('two'));
    expect(await next()).toEqual(['two']);
    await symlink(two, `${file}~`);
    await rename(`${file}~`, file);
    expect(await next()).toEqual(['other']);
    await writeFile(two, withServer('another'));
    expect(await next()).toEqual(['another']);
  });

  it('notices a file, and its folders, that come later', { tags: ['deep'] }, async () => {
    const later = join(folder, 'config', 'notebridge', 'mcp.json');
    const { next, told } = await watch({ file: later });
    await mkdir(join(folder, 'config'));
    await mkdir(join(folder, 'config', 'notebridge'));
    await writeFile(later, withServer('one'));
    expect(await next()).toEqual(['one']);
    await writeFile(later, withServer('two'));
    expect(await next()).toEqual(['two']);
    expect(told).toHaveLength(2);
  });

  it('says that the file is gone, keeps what held, and goes on when it is back', { tags: ['P-026'] }, async () => {
    await writeFile(file, withServer('one'));
    const { next } = await watch();
    await rm(file);
    expect(await next()).toBe('F: The file is gone. Put it back, or write "{}" into it; until then, what it said holds.');
    await writeFile(file, withServer('one'));
    expect(await next()).toBe('mended');
    await writeFile(file, '{}');
    expect(await next()).toEqual([]);
  });

  it('goes on when the whole folder is removed and made again', { tags: ['deep'] }, async () => {
    const deep = join(folder, 'notebridge', 'mcp.json');
    await mkdir(dirname(deep));
    await writeFile(deep, withServer('one'));
    const { next } = await watch({ file: deep });
    await rm(dirname(deep), { recursive: true });
    expect(await next()).toContain('The file is gone.');
    await mkdir(dirname(deep));
    await writeFile(deep, withServer('two'));
    expect(await next()).toBe('mended');
    expect(await next()).toEqual(['two']);
  });

  it('reports a broken edit once, with its place, and says when it is fixed', { tags: ['P-026'] }, async () => {
    await writeFile(file, withServer('one'));
    const { next, told } = await watch({ env: { SECRET: 'hunter22' } });
    await writeFile(file, '{\n "mcpServers": { "one": { "command": "${NONE}", "cwd": "${SECRET}", "era": "${SECRET}" } } }');
    const fault = await next();
    expect(fault).toContain('F:2:38: "mcpServers.one.command" needs the environment variable "NONE", which is not set.');
    expect(fault).not.toContain('hunter22');
    await appendFile(file, '\n');
    await writeFile(file, withServer('two'));
    expect(await next()).toBe('mended');
    expect(await next()).toEqual(['two']);
    expect(told).toHaveLength(3);
  });

  it('sees an edit that was made between loading and watching', { tags: ['deep'] }, async () => {
    await writeFile(file, withServer('one'));
    const current = await loadConfig({ file, env: {} });
    await writeFile(file, withServer('two'));
    const { next } = await watch({ current });
    expect(await next()).toEqual(['two']);
  });

  it('reports a change that could not be taken into use, and goes on', { tags: ['deep'] }, async () => {
    await writeFile(file, withServer('one'));
    const faults: string[] = [];
    const applied = new AsyncEvent();
    await watch({
      onChange: async (config) => {
        if (namesOf(config)[0] === 'two') throw new Error('no room');
        applied.set();
      },
      onFault: async (error) => {
        faults.push(error.message);
        await writeFile(file, withServer('three'));
      },
    });
    await writeFile(file, withServer('two'));
    expect(await applied.wait(20_000)).toBe(true);
    expect(faults).toEqual(['no room']);
  });

  it('is silent once closed, and may be closed twice and at once', async () => {
    await writeFile(file, withServer('one'));
    const first = await watch();
    const second = await watch();
    await first.close();
    await first.close();
    await writeFile(file, withServer('two'));
    expect(await second.next()).toEqual(['two']);
    expect(first.told).toEqual([]);
    const current = await loadConfig({ file, env: {} });
    for (let turns = 0; turns < 30; turns++) {
      const watching = new ConfigWatch({ file, env: {}, current, onChange: () => {}, onFault: () => {} });
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      await watching.close();
      await watching.ready;
      await watching.close();
    }
  });
});
