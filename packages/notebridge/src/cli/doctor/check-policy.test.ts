import { expect, it, onTestFinished, vi } from 'vitest';
import type { PolicyReport } from '../../catalog/policy-report.js';
import type { Config } from '../../config/config.js';
import type { ServerConfig } from '../../config/server-config.js';
import { approvalText, codeModeText } from '../commands/tools.js';
import { checkPolicy } from './check-policy.js';

const server = (name: string, more: object = {}): ServerConfig =>
  ({
    name,
    transport: 'stdio',
    command: 'runs',
    args: [],
    env: {},
    placement: 'each',
    disabled: false,
    expose: 'direct',
    tools: { deny: [] },
    ...more,
  }) as Partial<ServerConfig> as ServerConfig;

it('doctor and tools say which calls a person approves, who can be asked, and whether code mode is on', { tags: ['P-459'] }, () => {
  vi.stubEnv('NOTEBRIDGE_CODE_MODE', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  const servers = [server('a', { approve: 'writes' }), server('b')];
  const say = (parts: object, isServed = true) =>
    checkPolicy({ servers, approve: 'none', codeMode: { enabled: false }, ...parts } as unknown as Config, isServed);
  const [off, writes] = say({});
  expect([off?.found, writes?.found]).toMatchObject(
    [/^off: /, /calls that may change something, of a\. .*else you are: notebridge approvals$/].map((text) => expect.stringMatching(text)),
  );
  expect(say({}, false)[1]).toMatchObject({ status: 'note', found: expect.stringContaining('nobody else can be, since no hub serves') });
  expect(say({ approve: 'destructive' })[1]?.found).toContain('calls that may destroy something, of b');
  expect(say({ codeMode: { enabled: true } })[0]?.found).toMatch(/^on by the config: .* and the tools of a, b$/);
  const report = (more: Partial<PolicyReport>) => ({ code_mode: false, owner_can_approve: false, ...more }) as PolicyReport;
  expect(codeModeText(report({}))).toBe('');
  expect(codeModeText(report({ code_mode: true }))).toMatch(/^Code mode is on/);
  expect(approvalText(report({}))).toMatch(/else the call is refused/);
  expect(approvalText(report({ owner_can_approve: true }))).toMatch(/else you are: notebridge approvals/);
});
