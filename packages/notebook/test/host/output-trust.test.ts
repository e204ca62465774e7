// @module-tag P-236

import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trustedOutputsIn } from '../../src/host/kept-files.js';
import type { Output } from '../../src/model/output.js';
import { personAt } from '../../src/viewer/protocol.js';
import { temporaryFolder } from './support/folder.js';
import { startHost } from './support/hosts.js';
import { until } from './support/until.js';
import { openWindow } from './support/window.js';

const script = (code: string): Output => ({
  output_type: 'display_data',
  data: { 'text/html': [`<p>x</p>\n`, `<script>${code}</script>`] },
  metadata: {},
});
const notebook = (...outputs: Output[]) => {
  const cells = [{ id: 'a', cell_type: 'code', source: 'x', metadata: {}, execution_count: 1, outputs }];
  return JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells });
};

async function place() {
  const folder = await temporaryFolder();
  const file = join(folder, 'a.ipynb');
  const kept = join(folder, 'state/trusted-outputs.json');
  const open = async () => {
    const host = await startHost({ file, trustedOutputs: trustedOutputsIn(kept) });
    const window = await openWindow(host.url);
    const isTrusted = () => window.of('outputsTrusted').at(-1)?.outputsTrusted ?? window.hello?.outputsTrusted;
    return { host, window, isTrusted };
  };
  return { file, kept, open };
}

describe('outputs with scripts', () => {
  it('are trusted by a person only, and stay so over an end', { tags: ['P-235'] }, async () => {
    const { file, kept, open } = await place();
    await writeFile(file, notebook(script('1')));
    const first = await open();
    expect(first.isTrusted()).toBe(false);
    await first.window.ask({ do: 'trustOutputs', trusted: true });
    await until(() => first.isTrusted() === true);
    await first.host.close();
    expect((await stat(kept)).mode & 0o777).toBe(0o600);
    const second = await open();
    expect(second.isTrusted()).toBe(true);
    await second.window.ask({ do: 'trustOutputs', trusted: false });
    await second.host.close();
    expect((await open()).isTrusted()).toBe(false);
    expect(await readFile(kept, 'utf8')).toBe('{}\n');
  });

  it('scripts that others put into the file are not trusted, while it is open or afterwards', async () => {
    const { file, open } = await place();
    await writeFile(file, notebook(script('1')));
    const { host, window, isTrusted } = await open();
    await window.ask({ do: 'trustOutputs', trusted: true });
    await until(() => isTrusted() === true);
    await writeFile(file, notebook(script('1'), { output_type: 'stream', name: 'stdout', text: 'harmless' }));
    await until(() => host.session.document.cells[0]?.outputs.length === 2);
    expect(isTrusted()).toBe(true);
    await writeFile(file, notebook(script('evil')));
    await until(() => isTrusted() === false);
    await window.ask({ do: 'trustOutputs', trusted: true });
    await until(() => isTrusted() === true);
    await host.close();
    await writeFile(file, notebook(script('more evil')));
    expect((await open()).isTrusted()).toBe(false);
  });

  it('scripts that come from runs here are trusted with the rest, also later', async () => {
    const { open } = await place();
    const { host, window, isTrusted } = await open();
    await window.ask({ do: 'trustOutputs', trusted: true });
    await until(() => isTrusted() === true);
    const { document } = host.session;
    const { id } = document.insert(0, { type: 'code', source: 'x' }, { by: personAt(1) });
    document.appendOutput(id, script('mine'), { by: personAt(1) });
    expect(isTrusted()).toBe(true);
    await host.close();
    expect((await open()).isTrusted()).toBe(true);
  });

  it('of a run of this session need no trust, wherever its cell goes; those of a file and of other programs do', {
    tags: ['P-235'],
  }, async () => {
    const { file, open } = await place();
    await writeFile(file, notebook(script('of the file')));
    const { host, window, isTrusted } = await open();
    const ranHere = () => window.of('ranHere').at(-1)?.ranHere ?? window.hello?.ranHere;
    const { document } = host.session;
    const by = personAt(1);
    expect(ranHere()).toEqual([]);
    const { id } = document.insert(1, { type: 'code', source: 'x' }, { by });
    document.appendOutput(id, script('of a run'), { by });
    await until(() => ranHere()?.includes(id) === true);
    // Windows draw an output at once: they have to know before it comes.
    const types = window.messages.map((message) => (message.type === 'change' ? message.change.op.type : message.type));
    expect(types.indexOf('ranHere')).toBeLessThan(types.indexOf('editOutputs'));
    expect((await openWindow(host.url)).hello?.ranHere).toEqual([id]);
    // A copy is what it was, and one with something else in it is not.
    const copy = document.insert(2, { type: 'code', source: 'x', outputs: [script('of a run')] }, { by }).id;
    const other = document.insert(3, { type: 'code', source: 'x', outputs: [script('pasted')] }, { by }).id;
    await until(() => ranHere()?.includes(copy) === true);
    expect(ranHere()).not.toContain(other);
    // A run that adds to what the file had does not vouch for that.
    document.appendOutput('a', script('of a run'), { by });
    expect(ranHere()).not.toContain('a');
    document.clear(id, { by });
    await until(() => ranHere()?.includes(id) === false);
    expect(isTrusted()).toBe(false);
    await host.save();
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll('of a run', 'evil'));
    await until(() => ranHere()?.length === 0);
  });

  it.each(['', 'no JSON', '[]', '{"__proto__": 1}', 'null', '{"a": "b"}'])(
    'are not trusted where what was kept is broken: %j',
    async (text) => {
      const { file, kept, open } = await place();
      await writeFile(file, notebook(script('1')));
      const first = await open();
      await first.window.ask({ do: 'trustOutputs', trusted: true });
      await until(() => first.isTrusted() === true);
      await first.host.close();
      await chmod(kept, 0o600);
      await writeFile(kept, text);
      expect((await open()).isTrusted()).toBe(false);
    },
  );
});
