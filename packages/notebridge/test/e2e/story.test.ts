// @module-tag deep
// @module-tag P-304

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { codeCell, installTimeoutMs, TestLab } from '../../../notebook/test/lab/support/jupyter.js';
import { createNodeColabPage } from '../fixtures/colab-page/node-page.js';
import { Program } from '../support/program.js';
import { tellStory } from '../support/story.js';

/** A PNG of noise, by what every Python has. */
const picture = `import base64, os, struct, zlib
from IPython.display import Image, display
def chunk(kind, data):
    body = kind + data
    return struct.pack('>I', len(data)) + body + struct.pack('>I', zlib.crc32(body))
rows = b''.join(b'\\0' + os.urandom(3 * 800) for _ in range(600))
display(Image(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 800, 600, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')))`;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-story-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('one story, wherever the notebook is', { timeout: 240_000 }, () => {
  it('Google Colab, by its stand-in', async () => {
    await using program = await Program.open();
    const page = createNodeColabPage(await program.address());
    try {
      await program.notification('notifications/tools/list_changed');
      await tellStory({ program, picture: 'display_png(900, 700)' });
    } finally {
      page.close();
    }
  });

  it('the built-in notebook, with Pyodide', async () => {
    await using program = await Program.open({ args: ['--notebook', join(folder, 'pyodide.ipynb')] });
    await tellStory({ program, picture });
  });

  it('the built-in notebook, with a Python of the person', async () => {
    const python = await pythonWith(['ipykernel', 'jupyter_client']);
    await using program = await Program.open({ args: ['--notebook', join(folder, 'own.ipynb'), '--kernel', python] });
    await tellStory({ program, picture });
  });

  describe('JupyterLab', () => {
    let lab: TestLab;
    beforeAll(async () => {
      lab = await TestLab.start();
    }, installTimeoutMs);
    afterAll(() => lab?.close());

    it('the story is told in the notebook that a person has in JupyterLab', async () => {
      await lab.write('story.ipynb', [codeCell('one', 'a = 1')]);
      const args = ['--notebook', `jupyter=${lab.baseUrl}lab/tree/story.ipynb?token=${lab.token}`];
      await using program = await Program.open({ args });
      await tellStory({ program, picture });
    });
  });
});
