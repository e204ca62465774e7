/** What begins so is a server of the config. */
export const ofServers = 'server.';

/** An agent of the hub that says so has gone: `sessionId`. */
export const endSessionMethod = 'notebridge/end_session';

/** Stays open; its progress are the events of the server. */
export const eventsMethod = 'notebridge/events';

/** Stays open, so that the server tells of a task: `taskId`. */
export const watchTaskMethod = 'notebridge/watch_task';

/** Starts it, and answers when it runs or was given up; stops it, with a reason: `why`. */
export const startMethod = 'notebridge/start';
export const stopMethod = 'notebridge/stop';
