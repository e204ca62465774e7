import { defaultClusterAudit, defaultClusterName, defaultDrainMs } from '@notebridge/cluster/cluster-settings';
import { defaultCodeModeLimits, noOtherTools, typeCheckModes } from '@notebridge/code-mode/execution/code-mode-limits';
import * as z from 'zod';
import {
  defaultAloneDrainMs,
  defaultAudit,
  defaultExchangedTtlMs,
  defaultLimits,
  defaultOtlpIntervalMs,
  defaultScriptTimeoutMs,
} from './config.js';
import {
  anyText,
  clusterNameError,
  filled,
  flag,
  folderPath,
  httpUrl,
  longestMs,
  longestString,
  natsUrl,
  oneOfNames,
  section,
  secureUrl,
  texts,
  textsByName,
  trustedUrl,
  wholeNumber,
} from './value-kinds.js';

/*
 * What a config file may hold. The error text of each part says what is wanted there and completes "must be …".
 * What zod cannot say well (which keys go together, who must not be started) stands in parse-servers.ts.
 */

const upstreamAuth = section(
  {
    grant: oneOfNames('authorization_code', 'client_credentials').default('authorization_code'),
    clientId: filled.optional(),
    clientSecret: filled.optional(),
    privateKey: filled.optional(),
    algorithm: oneOfNames('ES256', 'ES384', 'RS256', 'PS256', 'EdDSA').default('ES256'),
    clientMetadataUrl: secureUrl().optional(),
    scope: filled.optional(),
    issuer: httpUrl().optional(),
    redirectPort: wholeNumber('port', 1, 65_535).optional(),
  },
  'an object like {"clientId": "…"}',
);

const approve = oneOfNames('none', 'listed', 'destructive', 'writes');

const server = section(
  {
    type: oneOfNames('stdio', 'http', 'streamable-http', 'streamableHttp', 'sse').optional(),
    command: filled.optional(),
    args: texts.default([]),
    env: textsByName.default({}),
    cwd: filled.optional(),
    url: httpUrl().optional(),
    headers: textsByName.default({}),
    auth: upstreamAuth.optional(),
    ca: filled.optional(),
    proxy: z.union([z.literal('none'), httpUrl()], { error: 'the URL of an HTTP proxy, or "none"' }).optional(),
    disabled: flag.default(false),
    timeoutMs: wholeNumber('milliseconds', 1, longestMs).optional(),
    tools: section(
      { allow: texts.optional(), deny: texts.default([]), approve: texts.optional() },
      'an object with "allow", "deny" and "approve"',
    ).default({ deny: [] }),
    approve: approve.optional(),
    trusted: flag.optional(),
    expose: oneOfNames('direct', 'code', 'none').optional(),
    names: oneOfNames('prefixed', 'plain').default('prefixed'),
    lazy: flag.default(false),
    description: anyText.optional(),
    instances: oneOfNames('shared', 'per-agent').default('shared'),
    // `any`, which once went to a hub with little to do, is read as `each`.
    placement: z.enum(['each', 'one', 'any'], { error: 'one of "each", "one"' }).default('each'),
    era: oneOfNames('auto', 'legacy', 'modern').default('auto'),
    maxInFlight: wholeNumber('calls', 1, 1_000_000).default(256),
    questions: oneOfNames('auto', 'serial', 'none').default('auto'),
  },
  'an object with "command" or "url"',
);

const servers = z.record(z.string(), server, { error: 'an object of servers, each under its name' });

const limits = section(
  {
    callTimeoutMs: wholeNumber('milliseconds', 1, longestMs).default(defaultLimits.callTimeoutMs),
    answerTimeoutMs: wholeNumber('milliseconds', 1, longestMs).default(defaultLimits.answerTimeoutMs),
    graceMs: wholeNumber('milliseconds', 0, longestMs).default(defaultLimits.graceMs),
    maxMessageBytes: wholeNumber('bytes', 1024, longestString).default(defaultLimits.maxMessageBytes),
    maxInFlight: wholeNumber('calls', 1, 1_000_000).default(defaultLimits.maxInFlight),
    handshakeMs: wholeNumber('milliseconds', 1, longestMs).default(defaultLimits.handshakeMs),
    pingMs: wholeNumber('milliseconds', 1, longestMs).default(defaultLimits.pingMs),
    maxResultBytes: wholeNumber('bytes', 1024, longestString).default(defaultLimits.maxResultBytes),
    maxBodyBytes: wholeNumber('bytes', 1024, longestString).default(defaultLimits.maxBodyBytes),
    startTimeoutMs: wholeNumber('milliseconds', 1, longestMs).default(defaultLimits.startTimeoutMs),
    idleStopMs: wholeNumber('milliseconds', 0, longestMs).default(defaultLimits.idleStopMs),
    pollAfterMs: wholeNumber('milliseconds', 0, longestMs).default(defaultLimits.pollAfterMs),
  },
  'an object of limits',
);

const codeMode = section(
  {
    enabled: flag.default(true),
    typeCheck: z.enum(typeCheckModes, { error: '"auto", "off" or "require"' }).default('auto'),
    seconds: wholeNumber('seconds', 1, 86_400).default(defaultCodeModeLimits.seconds),
    askedSeconds: wholeNumber('seconds', 0, 86_400).default(defaultCodeModeLimits.askedSeconds),
    calls: wholeNumber('calls', 0, 1_000_000).default(defaultCodeModeLimits.calls),
    parallelCalls: wholeNumber('calls', 1, 1024).default(defaultCodeModeLimits.parallelCalls),
    outputBytes: wholeNumber('bytes', 65_536, 67_108_864).default(defaultCodeModeLimits.outputBytes),
    codeCharacters: wholeNumber('characters', 1000, 4_194_304).default(defaultCodeModeLimits.codeCharacters),
    memoryMb: z
      .union([z.literal(0), wholeNumber('MiB', 2048, 1_048_576)], { error: 'a whole number of MiB, 2048 to 1048576, or 0' })
      .default(0),
    kernels: wholeNumber('Pythons', 1, 256).default(defaultCodeModeLimits.kernels),
    idleMinutes: wholeNumber('minutes', 1, 10_080).default(defaultCodeModeLimits.idleMinutes),
    typeCheckMs: wholeNumber('milliseconds', 100, 60_000).default(defaultCodeModeLimits.typeCheckMs),
  },
  'true, false, or an object of limits',
);

const skillFolder = section(
  {
    path: folderPath(),
    trusted: flag.default(false),
    timeoutMs: wholeNumber('milliseconds', 1, longestMs).default(defaultScriptTimeoutMs),
    env: textsByName.default({}),
  },
  'the path of a folder, or an object with "path"',
);

const skills = z.array(
  z.union([folderPath().transform((path) => skillFolder.parse({ path })), skillFolder], {
    error: 'the path of a folder, or an object with "path"',
  }),
  { error: 'a list of folders' },
);

const audit = section(
  {
    file: filled.optional(),
    logArguments: flag.default(defaultAudit.logArguments),
    maxBytes: wholeNumber('bytes', 65_536, Number.MAX_SAFE_INTEGER).default(defaultAudit.maxBytes),
  },
  'false, or an object',
);

/** The terms of a grant that is given for a token of another issuer. */
const scope = {
  allow: z.array(filled, { error: 'a list of patterns like "github:*"' }).min(1, { error: 'a list of at least one pattern' }),
  readOnly: flag.default(false),
};
const bounds = {
  calls: wholeNumber('calls', 1, Number.MAX_SAFE_INTEGER).optional(),
  perMinute: wholeNumber('calls', 1, 1_000_000).optional(),
  concurrent: wholeNumber('calls', 1, 1_000_000).optional(),
};

const exchangeRule = section(
  {
    issuer: filled,
    audience: filled.default('notebridge'),
    subject: filled,
    keys: filled,
    ...scope,
    ttlMs: wholeNumber('milliseconds', 60_000, 86_400_000).default(defaultExchangedTtlMs),
    ...bounds,
  },
  'an object with "issuer", "subject", "keys" and "allow"',
);

const doorScope = section(
  {
    scope: z.string({ error: 'one scope, without spaces' }).regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { error: 'one scope, without spaces' }),
    ...scope,
    ...bounds,
  },
  'an object with "scope" and "allow"',
);

const doorAuth = section(
  {
    issuer: trustedUrl(),
    audience: trustedUrl(),
    jwksUri: trustedUrl().optional(),
    scopes: z.array(doorScope, { error: 'a list of objects' }).min(1, { error: 'a list of at least one object' }),
  },
  'an object with "issuer", "audience" and "scopes"',
);

const otlp = section(
  {
    endpoint: httpUrl(),
    headers: textsByName.default({}),
    traces: flag.default(true),
    metrics: flag.default(true),
    sampleRatio: z
      .number({ error: 'a number from 0 to 1' })
      .min(0, { error: 'a number from 0 to 1' })
      .max(1, { error: 'a number from 0 to 1' })
      .default(1),
    intervalMs: wholeNumber('milliseconds', 100, 3_600_000).default(defaultOtlpIntervalMs),
  },
  'an object with "endpoint"',
);

const telemetry = section(
  { metrics: flag.default(false), scrapeTokens: folderPath().optional(), otlp: otlp.optional() },
  'an object with "metrics", "scrapeTokens" and "otlp"',
);

const pemFiles = section(
  { ca: filled.optional(), cert: filled.optional(), key: filled.optional() },
  'an object with "ca", "cert" and "key"',
);

const clusterAudit = section(
  {
    maxDays: wholeNumber('days', 1, 36_500).default(defaultClusterAudit.maxDays),
    maxBytes: wholeNumber('bytes', 1_048_576, Number.MAX_SAFE_INTEGER).default(defaultClusterAudit.maxBytes),
  },
  'false, or an object with "maxDays" and "maxBytes"',
);

const cluster = section(
  {
    url: z.union([natsUrl(), z.array(natsUrl(), { error: 'a list of addresses' }).min(1, { error: 'a list of at least one address' })], {
      error: 'an address like "nats://host:4222", or a list of them',
    }),
    name: z
      .string({ error: clusterNameError() })
      .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: clusterNameError() })
      .default(defaultClusterName),
    credentials: filled.optional(),
    tls: pemFiles.optional(),
    key: filled.optional(),
    hubName: filled.optional(),
    replicas: wholeNumber('servers', 1, 5).optional(),
    drainMs: wholeNumber('milliseconds', 0, 3_600_000).default(defaultDrainMs),
    audit: z.union([z.literal(false), clusterAudit], { error: 'false, or an object with "maxDays" and "maxBytes"' }).prefault({}),
  },
  'an object with "url"',
);

const notebridge = section(
  {
    middleware: z.array(filled, { error: 'a list of module paths' }).default([]),
    journal: flag.default(true),
    skills: skills.default([]),
    audit: z.union([z.literal(false), audit], { error: 'false, or an object' }).prefault({}),
    keepCalls: flag.default(true),
    exchange: z.array(exchangeRule, { error: 'a list of objects' }).default([]),
    auth: doorAuth.optional(),
    codeMode: z
      .union([flag.transform((enabled) => codeMode.parse({ enabled })), codeMode], { error: 'true, false, or an object of limits' })
      .default({ ...defaultCodeModeLimits, enabled: false, typeCheck: 'auto' }),
    approve: approve.default('none'),
    telemetry: telemetry.prefault({}),
    drainMs: wholeNumber('milliseconds', 0, 3_600_000).default(defaultAloneDrainMs),
    cluster: cluster.optional(),
    limits: limits.prefault({}),
  },
  'an object',
);

/** A config file. `inputs` and `$schema` are other programs' and only tolerated. */
export const configSchema = section(
  {
    $schema: anyText.optional(),
    inputs: z.array(z.looseObject({}, { error: 'an object' }), { error: 'a list of objects' }).optional(),
    mcpServers: servers.default({}),
    servers: servers.default({}),
    notebridge: notebridge.prefault({}),
  },
  'an object, "{…}"',
);

export type CheckedConfig = z.output<typeof configSchema>;
export type CheckedServer = z.output<typeof server>;

/** Keys that once had a meaning, and what is said of each. */
export const formerKeys: Readonly<Record<string, string>> = {
  'notebridge.codeMode.tools': `${noOtherTools}. Delete this key.`,
  'notebridge.codeMode.allowDirectCalls': `${noOtherTools}. Delete this key; a server with "expose": "direct" is called without code.`,
};
