/** What network and store do to what passes through, as rates from 0 to 1 and as milliseconds. */
export interface Weather {
  /** Messages that never arrive, that arrive twice, and that take up to `slowMs`. */
  lost: number;
  doubled: number;
  slow: number;
  slowMs: number;
  /** Writes that are made and whose answer is lost; requests that are refused without effect; and those that never arrive. */
  lostAnswers: number;
  refused: number;
  lostRequests: number;
  /** Reads from a replica that lags, and by how much at most; the same for what watches tell. */
  stale: number;
  lagMs: number;
  /** Watches that begin with what there was a few writes ago. */
  behind: number;
  /** Changes that a watch tells twice. */
  toldTwice: number;
  /** An entry goes so much later than its time at most. */
  lateEndMs: number;
}

export const calm: Weather = {
  lost: 0,
  doubled: 0,
  slow: 0,
  slowMs: 0,
  lostAnswers: 0,
  refused: 0,
  lostRequests: 0,
  stale: 0,
  lagMs: 20,
  behind: 0,
  toldTwice: 0,
  lateEndMs: 200,
};
