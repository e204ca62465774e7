import type { Logger } from '@notebridge/protocol/util/logger';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import { canBeHidden, secretsOfEnvironment } from '@notebridge/protocol/util/secrets';
import { GrowingFile } from '@notebridge/system/files/growing-file';
import { ownVersion } from '@notebridge/system/files/own-files';
import { processExists } from '@notebridge/system/processes/living-process';
import { ownProcessId, ownUserId } from '@notebridge/system/processes/own-user';
import { assertKeptOutside } from '@notebridge/system/processes/written-rule';
import { type RecordedProbe, toProbe } from '../../recording/recorded-probe.js';
import { Recorder } from '../../recording/recorder.js';

interface RecordTo {
  /** Where it is written. */
  file: string;
  /** Most that is written, in bytes. */
  maxBytes?: number;
  /** Replaces a file that is there. Default: the new one gets a number. */
  force?: boolean | undefined;
  /** Variables of the environment whose values are secrets, besides those whose names say so. */
  secretVariables?: readonly string[] | undefined;
}

export const defaultRecordingBytes = 64 * 1024 * 1024;

/** How the recorder of a command is made, when its redactor and log are there. Throws `bad_usage` or `write_failed`. */
export function openRecorder({ file, maxBytes = defaultRecordingBytes, force, secretVariables = [] }: RecordTo) {
  return (redactor: Redactor, logger: Logger): Recorder => {
    assertKeptOutside(file, 'The recording');
    const { env } = process;
    const named = secretVariables.map((name) => ({ name, value: env[name] ?? '' })).filter(({ value }) => canBeHidden(value));
    redactor.replace('environment', [...secretsOfEnvironment(env), ...named]);
    const version = ownVersion();
    let continues: RecordedProbe | undefined;
    const continueAt = (text: string): number | undefined => {
      const probe = toProbe(text, version);
      if (probe !== undefined && !processExists(probe.pid)) continues = probe;
      return continues?.bytes;
    };
    const created = new GrowingFile(file, { replace: force, continueAt, uid: ownUserId() });
    if (created.path !== file)
      process.stderr.write(`notebridge: "${file}" is there already; this session is recorded in "${created.path}".\n`);
    return new Recorder({
      file: created,
      redactor,
      version,
      pid: ownProcessId(),
      continues,
      maxBytes,
      onStop: (why) => {
        logger.warn(why, { file: created.path });
        process.stderr.write(`notebridge: ${why}\n`);
      },
    });
  };
}
