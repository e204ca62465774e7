// @module-tag P-719

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { HubMetrics } from '../../src/telemetry/hub-metrics.js';
import { monitoringFolder } from '../support/manifests.js';

interface Rules {
  groups: { rules: { alert: string; expr: string; labels: { severity: string }; annotations: { runbook_url: string } }[] }[];
}
interface RuleTests {
  tests: { name: string; alert_rule_test: { alertname: string; exp_alerts: { exp_annotations: { runbook_url: string } }[] }[] }[];
}

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const read = (file: string): string => readFileSync(join(monitoringFolder, file), 'utf8');
const rules = (parse(read('notebridge-alerts.yml')) as Rules).groups.flatMap(({ rules: of }) => of);
const { tests } = parse(read('notebridge-alerts.test.yml')) as RuleTests;

describe('alerts', () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s has a page with what it means and the first three steps', (name, rule) => {
    expect(rule.annotations.runbook_url).toBe(`docs/operate/alerts/${name}.md`);
    expect(rule.labels.severity).toMatch(/^(critical|warning)$/);
    const page = readFileSync(join(root, rule.annotations.runbook_url), 'utf8');
    expect(page.match(/^#+ .*$/gm)).toEqual([`# ${name}`, '## What it means', '## First three steps']);
    expect(page.match(/^\d\. /gm)).toEqual(['1. ', '2. ', '3. ']);
    expect(page).toMatch(/^# \w+\n\nOver when: .* Wake .*\.\n/);
    // On call nobody reads more, but for commands to copy.
    expect(page.replaceAll(/`[^`]*`/g, 'x').split(/\s+/).length).toBeLessThan(200);
  });

  it('each page is of an alert, and each alert has a test in which it fires once and names its page', () => {
    const names = [...new Set(rules.map(({ alert }) => alert))];
    expect(names.length).toBeGreaterThan(12);
    expect(readdirSync(join(root, 'docs/operate/alerts')).sort()).toEqual(names.map((name) => `${name}.md`).sort());
    expect(tests.map(({ name }) => name)).toEqual(names);
    for (const { name, alert_rule_test: cases } of tests) {
      const firing = cases.flatMap(({ alertname, exp_alerts: fires }) =>
        fires.map(({ exp_annotations: { runbook_url } }) => [alertname, runbook_url]),
      );
      expect(firing.length, name).toBeGreaterThan(0);
      expect(new Set(firing.flat())).toEqual(new Set([name, `docs/operate/alerts/${name}.md`]));
    }
  });

  it('what keeps one cause from ringing often names alerts that there are', () => {
    const named = read('alertmanager.yml').match(/Notebridge\w+/g) ?? [];
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !rules.some(({ alert }) => alert === name))).toEqual([]);
  });

  it('rules and dashboard read metrics that a hub has', async () => {
    const metrics = new HubMetrics({
      servers: { all: () => [], get: () => undefined } as never,
      countApprovals: () => 0,
      listGrants: () => [],
      edits: { refused: undefined },
      version: '0',
      cluster: { hubs: () => 1, isJoined: () => true, isConnected: () => true, served: () => 0, dropped: () => ({}) },
    });
    metrics.addReadiness(() => true);
    const known = new Set(
      [...(await metrics.scrape()).matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`] : [name],
      ),
    );
    const used = [read('notebridge-alerts.yml'), read('grafana-dashboard.json')].flatMap(
      (text) => text.match(/\b(notebridge|nodejs|process)_[a-z0-9_]+\b/g) ?? [],
    );
    expect(new Set(used).size).toBeGreaterThan(20);
    expect([...new Set(used)].filter((name) => !known.has(name))).toEqual([]);
  });
});
