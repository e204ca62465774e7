import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileServers } from '../support/hostile-tools.js';
import { inputOf, type PythonPackage, pythonPackage, pythonsHere, run } from '../support/python-package.js';
import { laterShopTools, ping, shopTools } from '../support/shop-tools.js';

const scripts = fileURLToPath(new URL('../python/', import.meta.url));
const pythons = await pythonsHere();
const minutes = 3 * 60_000;

it('there is a Python to hold the package against', { tags: ['deep'] }, () =>
  expect(pythons.map(({ version }) => version)).not.toEqual([]),
);

it('functions take arguments by name or as a dict, refuse wrong ones before any call, and imports name what is near', {
  tags: ['P-083', 'P-264'],
}, async () => {
  using shop = await pythonPackage(inputOf({ shop: shopTools, extra: [ping] }));
  const checks = ['call_forms', 'wrong_arguments_are_refused_before_any_call', 'imports_that_name_what_is_not_there'];
  const [{ python } = expect.fail('No Python is here.')] = pythons;
  const ran = checks.map((check) => run(python, [join(scripts, 'check_package.py'), `check_fresh_${check}`], { cwd: shop.folder }));
  expect(await Promise.all(ran)).toEqual(['', '', '']);
});

it('a name that a newer package has says how to have it', { tags: ['P-732'] }, async () => {
  const [{ python } = expect.fail('No Python is here.')] = pythons;
  await checkThroughChange(python, 'newer_names_say_how_to_have_them', { shop: laterShopTools, later: [ping] });
});

describe.each(pythons)('on CPython $version', { tags: ['deep'] }, ({ python }) => {
  let shop: PythonPackage;
  beforeAll(async () => {
    shop = await pythonPackage(inputOf({ shop: shopTools, extra: [ping] }));
  });
  afterAll(() => shop[Symbol.dispose]());

  it('the package is what its users expect', { timeout: minutes, tags: ['P-081', 'P-083', 'P-264'] }, async () => {
    expect(await run(python, [join(scripts, 'check_package.py')], { cwd: shop.folder })).toBe('all good\n');
  });

  it('a reload shows the tools that there are now', { timeout: minutes }, () =>
    checkThroughChange(python, 'reload_shows_what_there_is_now', { shop: laterShopTools }),
  );
});

describe('a package of hostile names, texts and schemas', { tags: ['deep'] }, () => {
  const servers = hostileServers({ seed: 5, schemas: 500 });
  let hostile: PythonPackage;
  beforeAll(async () => {
    hostile = await pythonPackage({ servers, skills: true, hubUrl: undefined });
  });
  afterAll(() => hostile[Symbol.dispose]());

  // With `-S`, nothing that is installed can be imported: the standard library is all there is.
  it.each(pythons)(
    'is imported and called whole on CPython $version, by its wire names',
    { timeout: minutes, tags: ['P-081', 'P-084', 'P-086'] },
    async ({ python }) => {
      const said = await run(python, ['-S', '-W', 'error', join(scripts, 'import_all.py')], { cwd: hostile.folder });
      const reached = JSON.parse(said) as [server: string, tool: string, required: string[], all: string[]][];
      const wanted = servers.flatMap(({ name, tools }) =>
        tools.map(({ name: tool, inputSchema }) => {
          const { properties = {}, required = [] } = inputSchema as { properties?: object; required?: string[] };
          return [name, tool, sorted(required), sorted(Object.keys(properties))];
        }),
      );
      expect(reached.length).toBeGreaterThan(700);
      expect(new Map(reached.map(([server, tool, ...names]) => [`${server}\n${tool}`, names]))).toEqual(
        new Map(wanted.map(([server, tool, ...names]) => [`${server}\n${tool}`, names])),
      );
    },
  );

  it('says of each changed name what it is now', () => {
    const { warnings } = JSON.parse(readFileSync(join(hostile.folder, 'generated/_manifest.json'), 'utf8')) as { warnings: string[] };
    expect(warnings).toContain('The tool "class" of the server "named" is called class_ in Python.');
    expect(warnings).toContain('The server "a/b" is called a_b_c14cdd in Python.');
    expect(warnings).toContain('The parameter "from" of the tool "all_names" of the server "wild" is called from_ in Python.');
  });
});

/** The package is made anew while the check runs. */
async function checkThroughChange(python: string, check: string, later: Parameters<typeof inputOf>[0]): Promise<void> {
  using changing = await pythonPackage(inputOf({ shop: shopTools, extra: [ping] }));
  const child = spawn(python, ['-B', join(scripts, 'check_package.py'), `check_fresh_${check}`], { cwd: changing.folder });
  const complaints: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  const ended = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), ended]);
  await changing.write(inputOf(later));
  child.stdin.end('changed\n');
  const [code] = (await ended) as [number];
  expect({ code, complaints: complaints.join('') }).toEqual({ code: 0, complaints: '' });
}

/** By code point, as Python sorts. */
function sorted(names: readonly string[]): string[] {
  const points = (text: string) => Array.from(text, (character) => (character.codePointAt(0) ?? 0).toString(16).padStart(6, '0')).join();
  return [...new Set(names)].sort((one, other) => (points(one) < points(other) ? -1 : 1));
}
