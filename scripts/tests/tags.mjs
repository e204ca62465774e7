// Which numbers of the requirements the tests carry as tags. `node scripts/tests/tags.mjs` prints how many of them the core proves.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runMain } from '../run.mjs';
import { testFiles } from './files.mjs';
import { requirements } from './requirements.mjs';

const typeTests = 'packages/notebridge/test/types';

/** How many tests, or loops that make tests, carry each number. What must not compile is tested by the type check, in the core. */
export async function testsOfRequirements() {
  const { default: ts } = await import('typescript');
  /** @type {Map<string, { core: number, deep: number }>} */
  const found = new Map();
  const count = (id, isDeep) => {
    const counts = found.get(id) ?? { core: 0, deep: 0 };
    counts[isDeep ? 'deep' : 'core'] += 1;
    found.set(id, counts);
  };
  const types = readdirSync(join(root, typeTests)).filter((name) => name.endsWith('.types.ts'));
  for (const { path, isDeep } of [...testFiles(), ...types.map((name) => ({ path: `${typeTests}/${name}`, isDeep: false }))]) {
    const text = readFileSync(join(root, path), 'utf8');
    if (!text.includes('P-')) continue;
    for (const [, id = ''] of text.matchAll(/^\/\/ @module-tag (P-\d{3})$/gm)) count(id, isDeep);
    visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true), isDeep);
  }
  return found;

  /** A test inherits the tags of the suites around it. */
  function visit(node, isDeep) {
    if (ts.isCallExpression(node)) {
      const inner =
        isDeep || node.arguments.some((argument) => ts.isObjectLiteralExpression(argument) && tagsIn(argument).includes('deep'));
      ts.forEachChild(node, (child) => visit(child, inner));
      return;
    }
    if (ts.isObjectLiteralExpression(node)) {
      const tags = tagsIn(node);
      for (const id of tags.filter((tag) => tag.startsWith('P-'))) count(id, isDeep || tags.includes('deep'));
    }
    ts.forEachChild(node, (child) => visit(child, isDeep));
  }

  function tagsIn(object) {
    const property = object.properties.find((each) => ts.isPropertyAssignment(each) && each.name.getText() === 'tags');
    if (!property || !ts.isArrayLiteralExpression(property.initializer)) return [];
    return property.initializer.elements.filter(ts.isStringLiteral).map(({ text }) => text);
  }
}

await runMain(import.meta.url, async () => {
  const [promised, tests] = [requirements(), await testsOfRequirements()];
  const inCore = promised.filter(({ id }) => (tests.get(id)?.core ?? 0) > 0).length;
  process.stdout.write(
    `requirements: ${inCore} of ${promised.length} have a test of the core (${Math.round((inCore / promised.length) * 100)} %)\n`,
  );
  return 0;
});
