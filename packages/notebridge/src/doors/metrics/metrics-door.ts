import { type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import type { HttpApp } from '../http/http-app.js';
import { sendBody } from '../http/http-context.js';
import { refuse } from '../http/refusal.js';
import type { TimeShare } from '../owner/time-share.js';

/** What is counted, as text. */
export interface ScrapedMetrics {
  readonly contentType: string;
  scrape(): Promise<string>;
}

export interface MetricsDoorOptions {
  /** Undefined: the config has them off. */
  metrics: ScrapedMetrics | undefined;
  /** Tells the callers that may read these and nothing else. Left out: none may. */
  scrapers?: { has(authorization: string | undefined): boolean } | undefined;
  /** The owner, or the holder of a grant that only watches. */
  authenticate: Authenticate;
  /** How much of the hub's time those may use who only watch. */
  share: TimeShare;
}

/** The holder of a mounted token: no grant is behind it. */
const scraper: Principal = { kind: 'grant', grantId: 'scraper' };
/** Where Prometheus, and what reads as it does, looks for them. */
const metricsPath = '/metrics';

/** Adds what monitoring systems read. Call it before `listenHttp`. */
export function createMetricsDoor(app: HttpApp, { metrics, scrapers, authenticate, share }: MetricsDoorOptions): void {
  const admit: Authenticate = (authorization) => (scrapers?.has(authorization) === true ? scraper : authenticate(authorization));
  const authenticator = new Authenticator(admit, { onRefused: app.refused });
  app.addRoute({
    methods: ['GET', 'HEAD'],
    path: metricsPath,
    authenticator,
    // A hub that ends for long is seen by nothing else.
    isAnsweredToTheEnd: true,
    handle: async (context) => {
      if (context.principal.kind === 'anonymous') return context.refuse(forWatchers);
      if (metrics === undefined) return context.refuse(off);
      const { response, headers, principal } = context;
      const scrape = (): Promise<string> => metrics.scrape();
      const text = principal.kind === 'owner' ? await scrape() : await share.spend(principalKey(principal), scrape);
      if (text === 'refused') return context.refuse(tooOften);
      sendBody(response, 200, text, [...headers, 'cache-control', 'no-store', 'content-type', metrics.contentType]);
    },
  });
}

const forWatchers = refuse(403, 'Metrics are for the owner of the hub, and for a grant that watches: `notebridge grant --door watch`.');
const tooOften = refuse(429, 'This grant reads metrics more often than a hub has time for. Scrape less often.', ['retry-after', '2']);
const off = refuse(404, 'No metrics are kept. Set "notebridge": {"telemetry": {"metrics": true}} in the config, and start the hub anew.');
