import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { tasksDeclared } from '@notebridge/protocol/core/task-servers';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { fromFaultAnswer } from './link.js';
import type { UpstreamSession } from './upstream-session.js';

/** In the modern era changes are sent only on a stream that was asked for. */
export function listenForChanges(session: UpstreamSession): void {
  listen(session, listenFilter(session));
}

/**
 * Listens to the updates of resources, over one stream for all of them. Returns how to stop. A server that was asked to by
 * `resources/subscribe` would have answered; here nothing is said of a resource that it does not know.
 */
export function listenForUpdates(session: UpstreamSession, uris: readonly string[]): () => void {
  const cancellation = new Cancellation();
  if (uris.length > 0) listen(session, { resourceSubscriptions: [...uris] }, cancellation);
  return () => cancellation.cancel('other resources are watched');
}

/** Listens to one task, until cancelled. */
export function listenForTask(session: UpstreamSession, taskId: string, cancellation: Cancellation): void {
  listen(session, { taskIds: [taskId] }, cancellation);
}

/** Over HTTP the stream may break while the rest goes on: then it is asked for again. */
function listen(session: UpstreamSession, notifications: JsonObject, cancellation = new Cancellation()): void {
  if (Object.keys(notifications).length === 0 || cancellation.reason !== undefined) return;
  const again = (): void => {
    if (session.isClosed || cancellation.reason !== undefined) return;
    listen(session, notifications, cancellation);
    // Notifications sent in between were missed.
    for (const event of listenEvents(notifications)) session.suppose(event);
  };
  const soon = (): void => void setTimeout(again, listenPauseMs).unref();
  const declared = notifications.taskIds === undefined ? undefined : tasksDeclared;
  session.request('subscriptions/listen', { notifications }, { cancellation }, declared).then(soon, (error: unknown) => {
    // A server that refuses it sends no changes; its calls go on.
    if (fromFaultAnswer(error) !== error) soon();
  });
}

const listenPauseMs = 1000;

const listKinds = [
  ['tools', 'toolsListChanged'],
  ['resources', 'resourcesListChanged'],
  ['prompts', 'promptsListChanged'],
] as const;

function listenFilter({ handshake: { capabilities } }: UpstreamSession): JsonObject {
  const isDeclared = (capability: string): boolean => {
    const declared = capabilities[capability];
    return isJsonObject(declared) && declared.listChanged === true;
  };
  return Object.fromEntries(listKinds.filter(([capability]) => isDeclared(capability)).map(([, filter]) => [filter, true]));
}

function listenEvents(notifications: JsonObject): ProviderEvent[] {
  const { resourceSubscriptions: uris } = notifications;
  const lists = listKinds.filter(([, filter]) => filter in notifications);
  return [
    ...lists.map(([capability]) => ({ method: `notifications/${capability}/list_changed` })),
    ...(Array.isArray(uris) ? uris : []).map((uri: unknown) => ({ method: 'notifications/resources/updated', params: { uri } })),
  ];
}
