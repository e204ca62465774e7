import { KeptChecker } from '../../code-mode/type-check/kept-checker.js';
import { TypeChecker } from '../../code-mode/type-check/type-checker.js';
import { BridgeError } from '../../core/errors.js';
import { findTypeChecker } from '../../processes/type-checker-program.js';
import type { Settings } from '../settings.js';

/** What checks code before it runs; undefined where the config does not want it, or no checker is installed. Throws `bad_config` if it must be there. */
export function openTypeChecker({ config, env, logger }: Pick<Settings, 'config' | 'env' | 'logger'>): TypeChecker | undefined {
  const { typeCheck, typeCheckMs: waitMs, idleMinutes } = config.codeMode;
  if (typeCheck === 'off') return undefined;
  const configDir = config.file === undefined ? undefined : config.baseDir;
  const program = findTypeChecker({ configDir, path: env.PATH, cwd: process.cwd() });
  if (program !== undefined) {
    const checker = new KeptChecker({ program, logger, idleMs: idleMinutes * 60_000, workMs: 3 * waitMs });
    return new TypeChecker({ checker, logger, waitMs });
  }
  if (typeCheck === 'auto') return undefined;
  const where = config.file === undefined ? '' : `${config.file}: `;
  throw new BridgeError(
    'bad_config',
    `${where}"notebridge.codeMode.typeCheck" is "require", and no type checker is installed beside Notebridge, beside this file or on the PATH. Install one (npm install --global pyright), or choose "auto".`,
  );
}
