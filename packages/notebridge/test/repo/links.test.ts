import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { requirements } from '../../../../scripts/tests/requirements.mjs';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const folders = ['docs', 'deploy', 'packages/notebridge', 'packages/notebook/src', 'packages/page'];
const pages = [
  ...readdirSync(root),
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: folder !== 'packages/notebridge', encoding: 'utf8' }).map((file) => join(folder, file)),
  ),
].filter((file) => file.endsWith('.md') && !file.includes('node_modules'));

/** As GitHub makes them of headings. */
function anchorsOf(text: string): string[] {
  const headings = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/^#+ (.*)$/gm);
  return Array.from(headings, ([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it('every link of the documentation leads somewhere, and to a heading that is there', () => {
  const broken: string[] = [];
  let links = 0;
  for (const page of pages)
    for (const [, target = '', anchor] of readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
      if (/^https?:/.test(target)) continue;
      links++;
      const file = target === '' ? join(root, page) : join(root, dirname(page), target);
      const isThere =
        existsSync(file) && (anchor === undefined || !file.endsWith('.md') || anchorsOf(readFileSync(file, 'utf8')).includes(anchor));
      if (!isThere) broken.push(`${page}: ${target}${anchor === undefined ? '' : `#${anchor}`}`);
    }
  expect(broken).toEqual([]);
  expect(links).toBeGreaterThan(200);
});

it('the page about security has two pages, and each number in it is a promise', () => {
  const text = readFileSync(join(root, 'docs/operate/security.md'), 'utf8');
  expect(text.trim().split(/\s+/).length).toBeLessThanOrEqual(1200);
  const promised = requirements(readFileSync(join(root, 'test/requirements.md'), 'utf8')).map(({ id }) => id);
  const named = text.match(/P-\d{3}/g) ?? [];
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((id) => !promised.includes(id))).toEqual([]);
});
