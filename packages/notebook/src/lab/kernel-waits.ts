// How long things of a kernel on a server may take, in milliseconds.

/** How long a kernel may take to answer for the first time. */
export const startTimeoutMs = 120_000;
export const answerTimeoutMs = 10_000;
export const meetTimeoutMs = 3000;
/** The longest that a timer can be: 24 days. */
export const endlessMs = 2 ** 31 - 1;
/** Waits between attempts to reach a kernel again whose socket was lost; after them it counts as dead. */
export const reconnectDelaysMs = [100, 300, 1000, 2000, 4000, 8000, 15_000];
