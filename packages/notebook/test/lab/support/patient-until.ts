import { until as untilSoon } from '../../host/support/until.js';

/** As `until`, with the time that JupyterLab, a browser and a kernel need on a busy machine. */
export function until<T>(check: () => T | Promise<T>, timeoutMs = 200_000) {
  return untilSoon(check, timeoutMs);
}
