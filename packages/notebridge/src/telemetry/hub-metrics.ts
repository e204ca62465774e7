import { type KernelStartObserver, type KernelStartOutcome, kernelStartOutcomes } from '@notebridge/code-mode/execution/kernel-starts';
import type { BegunCall, CallObserver, EndCall } from '@notebridge/protocol/core/call-observer';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { ServerState, ServerStatus, ToolServers } from '@notebridge/protocol/core/tool-server';
import type { RefusedAttempt } from '@notebridge/system/net/refused-attempt';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { WatchedConfig } from '../config/config-edit.js';
import { otherLabel, outcomeLabel, toLabel } from './bounded-labels.js';

export interface HubMetricsOptions {
  servers: ToolServers;
  /** How many calls wait for the owner, and the live grants. Asked with each scrape. */
  countApprovals: () => number;
  listGrants: () => readonly CountedGrant[];
  edits: Pick<WatchedConfig, 'refused'>;
  version: string;
  /** Undefined: the hub is alone. */
  cluster?: ClusterCounts | undefined;
}

/** A live grant: the calls that it may make in its life, if they are bounded, and those that it has made. */
export interface CountedGrant {
  calls: number | undefined;
  used: number;
}

/** What is counted of a cluster. Asked with each scrape. */
export interface ClusterCounts {
  /** Hubs that are there, this one among them, as far as it was told. */
  hubs(): number;
  /** True while this hub has its place there. */
  isJoined(): boolean;
  /** True while it is connected to NATS. */
  isConnected(): boolean;
  /** Calls of other hubs that run here. */
  served(): number;
  /** Packets of other hubs, or of strangers, that were dropped, by the reason. */
  dropped(): Record<string, number>;
}

/** Upper bounds of the times that calls take. Seconds. */
const buckets = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600];
/** Upper bounds of the times that Pythons take to start. Seconds. */
const startBuckets = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Pairs of server and tool that have series of their own; the rest counts under `other`. */
const mostTools = 1000;
const statuses: readonly ServerStatus[] = ['stopped', 'starting', 'running', 'restarting', 'failed', 'disabled'];

/** A number that is asked for with each scrape, with its labels. */
type Asked<Label extends string> = readonly [labels: Partial<Record<Label, string>>, value: number];

/**
 * What a hub counts for those who watch many: in memory, read by a scrape. Names and labels are those of Prometheus' own rules
 * (https://prometheus.io/docs/practices/naming/). Arguments, results and agents' names are in none.
 */
export class HubMetrics implements CallObserver, KernelStartObserver {
  readonly isOn = true;
  readonly #options: HubMetricsOptions;
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  readonly #tools = new Set<string>();
  readonly #calls = new Counter({
    name: 'notebridge_calls_total',
    help: 'Calls that have ended, by what came of them.',
    labelNames: ['server', 'tool', 'door', 'outcome'],
    registers: this.#registers,
  });
  readonly #durations = new Histogram({
    name: 'notebridge_call_duration_seconds',
    help: 'How long calls took, with the time for which they waited for a person.',
    labelNames: ['server', 'door'],
    buckets,
    registers: this.#registers,
  });
  readonly #running = new Gauge({
    name: 'notebridge_calls_running',
    help: 'Calls under way.',
    labelNames: ['door'],
    registers: this.#registers,
  });
  readonly #refused = new Counter({
    name: 'notebridge_refused_total',
    help: 'Requests that were refused for their sender: for its token, Host or Origin.',
    labelNames: ['door', 'reason'],
    registers: this.#registers,
  });
  readonly #exhausted = new Counter({
    name: 'notebridge_budget_exhausted_total',
    help: 'Calls that were refused for a bound of their grant: its budget, its rate, or its calls at once.',
    registers: this.#registers,
  });
  readonly #kernelStarts = new Counter({
    name: 'notebridge_kernel_starts_total',
    help: 'Starts of a Python for code mode, by what came of them.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #kernelStartTimes = new Histogram({
    name: 'notebridge_kernel_start_duration_seconds',
    help: 'How long a Python for code mode took to start.',
    buckets: startBuckets,
    registers: this.#registers,
  });

  constructor(options: HubMetricsOptions) {
    this.#options = options;
    // Else the first failure would be no increase of anything.
    for (const outcome of kernelStartOutcomes) this.#kernelStarts.inc({ outcome }, 0);
    this.#addServers();
    this.#addHub();
    if (options.cluster !== undefined) this.#addCluster(options.cluster);
    collectDefaultMetrics({ register: this.#registry });
  }

  /** All that is counted, as Prometheus reads it. */
  scrape(): Promise<string> {
    return this.#registry.metrics();
  }

  begin({ context, address }: BegunCall): EndCall {
    const { door } = context.caller;
    const startedAt = performance.now();
    this.#running.inc({ door });
    return (outcome) => {
      this.#running.dec({ door });
      const server = address === undefined ? '' : toLabel(address.server);
      const tool = address === undefined ? '' : this.#labelOfTool(address, outcome);
      this.#calls.inc({ server, tool, door, outcome: outcomeLabel(outcome) });
      this.#durations.observe({ server, door }, (performance.now() - startedAt) / 1000);
      if (outcome === 'budget_exhausted') this.#exhausted.inc();
    };
  }

  /** Says with each scrape whether the hub is to be sent calls. */
  addReadiness(isReady: () => boolean): void {
    this.#count('notebridge_ready', '1 while the hub is to be sent calls: what /readyz says.', () => (isReady() ? 1 : 0));
  }

  kernelStarted(outcome: KernelStartOutcome, durationMs: number): void {
    this.#kernelStarts.inc({ outcome });
    if (outcome === 'ok') this.#kernelStartTimes.observe(durationMs / 1000);
  }

  refused({ door, reason }: RefusedAttempt): void {
    this.#refused.inc({ door, reason });
  }

  /** One that nobody has yet called with success counts under `other` until then, if the caller may have made up its name. */
  #labelOfTool({ server, tool }: ToolAddress, outcome: string): string {
    const key = `${server}\0${tool}`;
    if (!this.#tools.has(key)) {
      const isReal = outcome === 'ok' || this.#options.servers.get(server)?.knownTools?.some(({ name }) => name === tool) === true;
      if (!isReal || this.#tools.size >= mostTools) return otherLabel;
      this.#tools.add(key);
    }
    return toLabel(tool);
  }

  #addServers(): void {
    const { servers } = this.#options;
    const each = (read: (state: ServerState) => number) => (): Asked<'server'>[] =>
      servers.all().map(({ name, state }) => [{ server: toLabel(name) }, read(state)]);
    this.#ask('notebridge_server_state', 'The state that a server is in: 1 for that one, 0 for the others.', ['server', 'state'], () =>
      servers
        .all()
        .flatMap(({ name, state: { status } }) => statuses.map((state) => [{ server: toLabel(name), state }, state === status ? 1 : 0])),
    );
    this.#ask(
      'notebridge_server_starting_late',
      '1 while a server has been starting for longer than it has taken before, and than ten seconds.',
      ['server'],
      each(({ isLate }) => (isLate === true ? 1 : 0)),
    );
    this.#ask(
      'notebridge_server_restarts_total',
      'Starts of a server after its first one.',
      ['server'],
      each(({ restarts }) => restarts),
    );
    this.#ask(
      'notebridge_server_calls_running',
      'Calls under way at a server.',
      ['server'],
      each(({ inFlight }) => inFlight),
    );
  }

  #addHub(): void {
    const { countApprovals, listGrants, edits, version } = this.#options;
    this.#count('notebridge_approvals_waiting', 'Calls that wait for the owner.', countApprovals);
    this.#count('notebridge_grants', 'Grants that are live.', () => listGrants().length);
    this.#count(
      'notebridge_grants_exhausted',
      'Live grants whose budget is used up.',
      () => listGrants().filter(({ calls, used }) => calls !== undefined && used >= calls).length,
    );
    this.#count('notebridge_config_refused', '1 while the file of the config cannot be used: a hub that starts now ends at once.', () =>
      edits.refused === undefined ? 0 : 1,
    );
    this.#ask('notebridge_build_info', 'The version that runs.', ['version'], () => [[{ version }, 1]]);
  }

  #addCluster({ hubs, isJoined, isConnected, served, dropped }: ClusterCounts): void {
    this.#count('notebridge_cluster_hubs', 'Hubs of the cluster that are there, this one among them.', hubs);
    this.#count('notebridge_cluster_joined', '1 while this hub has its place in the cluster.', () => (isJoined() ? 1 : 0));
    this.#count('notebridge_cluster_nats_connected', '1 while this hub is connected to NATS.', () => (isConnected() ? 1 : 0));
    this.#count('notebridge_cluster_calls_running', 'Calls of other hubs under way here.', served);
    this.#ask(
      'notebridge_cluster_packets_dropped_total',
      'Packets between hubs that were dropped: of a stranger, with a wrong signature, of an unknown version, not readable.',
      ['reason'],
      () => Object.entries(dropped()).map(([reason, times]) => [{ reason }, times]),
    );
  }

  #count(name: string, help: string, work: () => number): void {
    this.#ask(name, help, [], () => [[{}, work()]]);
  }

  /** Adds what is asked for with each scrape. By Prometheus' rules the name says whether it can only rise. */
  #ask<Label extends string>(name: string, help: string, labelNames: Label[], ask: () => Asked<Label>[]): void {
    const about = { name, help, labelNames, registers: this.#registers };
    if (name.endsWith('_total'))
      new Counter({
        ...about,
        collect(): void {
          this.reset();
          for (const [labels, value] of ask()) this.inc(labels, value);
        },
      });
    else
      new Gauge({
        ...about,
        collect(): void {
          this.reset();
          for (const [labels, value] of ask()) this.set(labels, value);
        },
      });
  }
}
