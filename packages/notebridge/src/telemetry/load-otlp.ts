import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import { type Secret, secretsOfHeader, secretsOfUrl } from '@notebridge/protocol/util/secrets';
import type { OtlpSettings } from '../config/otlp-settings.js';
import type { CreateOtlpOptions } from './otlp.js';
import type { Telemetry } from './outgoing-calls.js';

export interface LoadOtlpOptions extends CreateOtlpOptions {
  /** The config file that turns it on; undefined for a program that has none. */
  file: string | undefined;
  redactor: Pick<Redactor, 'replace'>;
  /** Of the Node that runs this, without the `v`. */
  nodeVersion: string;
}

/** What the packages of OpenTelemetry need. */
const leastNode = [22, 15] as const;
/** As they are installed; docs/operating.md has the same. */
export const otlpPackages = [
  '@opentelemetry/api@1',
  '@opentelemetry/resources@3',
  '@opentelemetry/sdk-trace@3',
  '@opentelemetry/sdk-metrics@3',
  '@opentelemetry/exporter-trace-otlp-proto@0.301',
  '@opentelemetry/exporter-metrics-otlp-proto@0.301',
];

/**
 * Loads the packages of OpenTelemetry, which nobody else pays for, and starts to send. They are optional: who wants traces installs them.
 * Rejects with `bad_config`, which says what is missing.
 */
export async function loadOtlp(options: LoadOtlpOptions): Promise<Telemetry> {
  const { settings, file, nodeVersion, redactor } = options;
  const place = `${file ?? 'config'}: "notebridge.telemetry.otlp"`;
  if (!isNewEnough(nodeVersion)) {
    const found = `needs Node ${leastNode.join('.')} or newer, and this is ${nodeVersion}`;
    throw new BridgeError('bad_config', `${place} ${found}. Run Notebridge with a newer Node, or remove the key.`);
  }
  redactor.replace('otlp', secretsOf(settings));
  const { createOtlp } = await import('./otlp.js').catch((cause: unknown) => {
    throw new BridgeError(
      'bad_config',
      `${place} needs packages of OpenTelemetry: ${firstLine(messageOf(cause))}. Install them beside Notebridge (with --global if it is): npm install ${otlpPackages.join(' ')}`,
      { cause },
    );
  });
  return createOtlp(options);
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > leastNode[0] || (major === leastNode[0] && minor >= leastNode[1]);
}

function secretsOf({ headers, endpoint }: OtlpSettings): Secret[] {
  return [...Object.entries(headers).flatMap(([name, value]) => secretsOfHeader(name, value)), ...secretsOfUrl(endpoint)];
}

/** Without the path of our file that asked for it. */
function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/ imported from .*/, '');
}
