/** What happens at a moment of virtual time. */
export interface WorldEvent {
  readonly at: number;
  /** Of two events of one moment the one that was planned first comes first. */
  readonly order: number;
  readonly label: string;
  call: (() => void) | undefined;
}

/** The events to come, the next one first: a binary heap. */
export class EventHeap {
  readonly #events: WorldEvent[] = [];

  get next(): WorldEvent | undefined {
    return this.#events[0];
  }

  push(event: WorldEvent): void {
    const events = this.#events;
    let index = events.length;
    events.push(event);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = events[above];
      if (!parent || isBefore(parent, event)) break;
      events[index] = parent;
      index = above;
    }
    events[index] = event;
  }

  pop(): WorldEvent | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (!last || events.length === 0) return first;
    let index = 0;
    for (;;) {
      const left = events[2 * index + 1];
      const right = events[2 * index + 2];
      const child = right && left && isBefore(right, left) ? right : left;
      if (!child || isBefore(last, child)) break;
      events[index] = child;
      index = 2 * index + (child === left ? 1 : 2);
    }
    events[index] = last;
    return first;
  }
}

function isBefore(one: WorldEvent, other: WorldEvent): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
