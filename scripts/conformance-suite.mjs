// The official conformance suite of MCP, with the Node that it needs: for tests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockedPackages } from './locked-packages.mjs';

/**
 * Installs what is missing. Throws with what npm said when it cannot be installed.
 * @returns {Promise<{ node: string, program: string, required: (revision: string, side: 'server' | 'client') => string[] }>} The Node to
 * run it with, its program, and the scenarios that count for a revision of the specification.
 */
export async function conformanceSuite() {
  const { node, modules } = await lockedPackages('conformance-suite');
  const suite = join(modules, '@modelcontextprotocol/conformance');
  return {
    node,
    program: join(suite, 'dist/index.js'),
    required: (revision, side) => required(readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8'), side),
  };
}

/** @param {string} requirements @param {'server' | 'client'} side @returns {string[]} */
function required(requirements, side) {
  const [, list = ''] = new RegExp(`^${side}:\\n((?: {2}- .*\\n)+)`, 'm').exec(requirements) ?? [];
  return Array.from(list.matchAll(/^ {2}- (.+)$/gm), ([, name]) => String(name).trim());
}
