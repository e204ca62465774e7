import type { ProviderEvent } from '../../core/provider.js';

/** Notifications that were dropped, since an agent did not read. Of a list's changes only that there was one: they all mean "ask again". */
export class UnreadNotifications {
  readonly #lists = new Set<string>();
  #count = 0;

  add(method: string, times = 1): void {
    if (method.endsWith('/list_changed') && this.#lists.size < 100) this.#lists.add(method);
    else this.#count += times;
  }

  /** What it is sent now that it reads again. */
  takeAll(): ProviderEvent[] {
    const events: ProviderEvent[] = [...this.#lists].map((method) => ({ method }));
    if (this.#count > 0) {
      const data = `Dropped ${this.#count} notifications, since what was sent before was not read. Read again what you watch.`;
      events.push({ method: 'notifications/message', params: { level: 'warning', logger: 'notebridge', data } });
    }
    this.#lists.clear();
    this.#count = 0;
    return events;
  }
}
