/** Lets calls on to the page in the order in which they came, though some of them look at a cell before. */
export class Turns {
  /** Resolves when the holder of the last turn has left; undefined if there is no need to wait. */
  last: Promise<void> | undefined;

  /** Takes the next turn: wait for `before`, pass, and leave. Leaving twice is harmless. */
  take(): { before: Promise<void> | undefined; leave: () => void } {
    const before = this.last;
    let open = (): void => {};
    const left = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.last = left;
    const leave = (): void => {
      open();
      if (this.last === left) this.last = undefined;
    };
    return { before, leave };
  }
}
