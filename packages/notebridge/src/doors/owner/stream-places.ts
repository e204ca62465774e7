import { largestOf } from '@notebridge/kit/long-lists';

interface Place {
  holder: string;
  cut: () => void;
}

/** A bounded number of streams at once. When all are taken, who has most of them loses one to a holder that has fewer; nobody loses one to himself. */
export class StreamPlaces {
  readonly #most: number;
  /** The oldest first. */
  readonly #taken = new Set<Place>();

  constructor(most: number) {
    this.#most = most;
  }

  /** `cut`: ends the stream, when another holder needs its place. Returns what gives the place back; undefined if there is none. */
  take(holder: string, cut: () => void): (() => void) | undefined {
    if (this.#taken.size >= this.#most && !this.#makeRoom(holder)) return undefined;
    const place = { holder, cut };
    this.#taken.add(place);
    return () => this.#taken.delete(place);
  }

  #makeRoom(holder: string): boolean {
    const counts = new Map<string, number>();
    for (const place of this.#taken) counts.set(place.holder, (counts.get(place.holder) ?? 0) + 1);
    const most = largestOf(counts.values());
    if ((counts.get(holder) ?? 0) + 1 >= most) return false;
    for (const place of this.#taken) {
      if (counts.get(place.holder) !== most) continue;
      this.#taken.delete(place);
      place.cut();
      return true;
    }
    return false;
  }
}
