import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@notebridge/kit/logger';
import type { Config } from '../config/config.js';
import { type ConfigWatch, watchConfig } from '../config/watch-config.js';
import type { ConfigEdits } from './config-edits.js';
import type { Settings } from './settings.js';

/** Has edits of the file taken into use. A broken one is reported, and what held before goes on. */
export function followConfig(
  file: string,
  { config, logger, env, stateDir, edits }: Pick<Settings, 'config' | 'env' | 'stateDir'> & { logger: Logger; edits: ConfigEdits },
  change: (config: Config) => Promise<void>,
): ConfigWatch {
  return watchConfig({
    file,
    env,
    stateDir,
    current: config,
    logger,
    onChange: async (next, previous) => {
      logger.info('The config was changed.', { file: next.file });
      const late = lateKeys.filter((key) => !isDeepStrictEqual(next[key], previous[key]));
      if (late.length > 0) logger.warn(`Changes of ${late.map((key) => `"${key}"`).join(', ')} in the config hold after a restart.`);
      for (const warning of next.warnings) if (!previous.warnings.includes(warning)) logger.warn(warning);
      edits.noteUsed(next, previous, late);
      await change(next);
    },
    onFault: (error) => {
      logger.error(`The changed config is not used; what held before goes on. ${error.message}`);
      edits.noteRefused(error);
    },
    onMended: () => {
      logger.info('The config is good again.');
      edits.noteMended();
    },
  });
}

/** Parts of the config that are read once. */
const lateKeys = ['middleware', 'limits', 'audit', 'keepCalls', 'exchange', 'auth', 'journal', 'codeMode', 'telemetry'] as const;
