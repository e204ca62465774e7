/**
 * What happens "at once" took less than this, in milliseconds. It is no measure of speed: a busy machine may take seconds for anything,
 * and what goes wrong here hangs, or waits for a time-out of 30 s and more.
 */
export const soonerThanNeverMs = 25_000;
