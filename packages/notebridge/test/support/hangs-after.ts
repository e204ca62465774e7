/**
 * What has not come about after so many milliseconds never does: the limit of waits for an event. It is below that of a test, so that the
 * wait which hung is named, and far above what a machine takes that is busy, or stands still for some seconds.
 */
export const hangsAfterMs = 45_000;
