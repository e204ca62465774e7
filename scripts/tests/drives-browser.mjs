/**
 * The options of a test that drives a real browser, which a busy machine can keep from answering in time: on CI it is tried up to
 * twice more, and the run ends with a line for each test that needed it. No other test is tried again.
 *
 *     it('shows the notebook', drivesBrowser, async () => { … });
 *     it('shows much', { ...drivesBrowser, timeout: 60_000 }, async () => { … });
 */
export const drivesBrowser = Object.freeze({ retry: process.env.CI === 'true' ? 2 : 0 });
