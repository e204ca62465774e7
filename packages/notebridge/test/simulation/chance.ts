/** Chance that a seed decides: xoshiro128**, seeded by splitmix32. Good enough to choose delays; never for secrets. */
export class Chance {
  readonly #state = new Uint32Array(4);

  constructor(seed: number) {
    let mix = seed | 0;
    for (let index = 0; index < 4; index += 1) {
      mix = (mix + 0x9e3779b9) | 0;
      let word = Math.imul(mix ^ (mix >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      this.#state[index] = word ^ (word >>> 15);
    }
  }

  /** From 0 to below 2³². */
  word(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.#state;
    const scrambled = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    this.#state.set([a ^ d ^ b, b ^ c ^ a, c ^ a ^ (b << 9), rotate(d ^ b, 11)]);
    return scrambled;
  }

  /** From 0 to below 1. */
  fraction(): number {
    return this.word() / 0x1_0000_0000;
  }

  between(least: number, most: number): number {
    return least + this.fraction() * (most - least);
  }

  /** From 0 to below this count. */
  below(count: number): number {
    return Math.floor(this.fraction() * count);
  }

  /** True in so many of a hundred cases as the rate says: 0.05 in five. A rate of 0 draws nothing. */
  happens(rate: number): boolean {
    return rate > 0 && this.fraction() < rate;
  }

  bytes(count: number): Buffer {
    const bytes = Buffer.alloc(count);
    for (let index = 0; index < count; index += 1) bytes[index] = this.word() & 0xff;
    return bytes;
  }
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
