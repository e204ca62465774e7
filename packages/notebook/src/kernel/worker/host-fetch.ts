/** Fetching by the host, which decides about each server: for `fetch`. */
import type { HostPort, HostReply } from './host-port.js';
import type { SendRequest } from './js-globals.js';
import type { PlainRequest, PlainResponse } from './plain-fetch.js';

interface Head extends Omit<PlainResponse, 'body'> {
  handle: number;
}

export function createHostFetch(host: HostPort): SendRequest {
  return (request) => {
    let isGivenUp = false;
    let cancel = () => {};
    const call = async (text: string, data?: Uint8Array<ArrayBuffer>): Promise<HostReply> => {
      const { id, reply } = host.call('network', text, data);
      cancel = () => host.cancel('network', id);
      const { value, data: bytes } = await reply;
      if (typeof value.error === 'string') throw new TypeError(`Fetching "${originOf(request.url)}": ${value.error}`);
      return { value, data: bytes };
    };
    const response = (async (): Promise<PlainResponse> => {
      const { handle, ...head } = (await call(toText(request), request.body)).value as unknown as Head;
      const pieces: Uint8Array[] = [];
      for (;;) {
        if (isGivenUp) {
          host.release('network', { handle });
          throw new TypeError('Fetching: it was given up');
        }
        const { data } = await call(JSON.stringify({ op: 'read', handle }));
        if (data.byteLength === 0) return { ...head, body: joined(pieces) };
        pieces.push(data);
      }
    })();
    return {
      response,
      abort() {
        // Nobody waits for it; the code that aborted it reports that.
        response.catch(() => {});
        isGivenUp = true;
        cancel();
      },
    };
  };
}

function toText({ url, method, headers }: PlainRequest): string {
  return JSON.stringify({ op: 'open', url, method, headers, redirect: 'follow' });
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((length, piece) => length + piece.byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.byteLength;
  }
  return all;
}

/** An address may hold what is not for an error message. */
function originOf(url: string): string {
  return /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? 'what is no address';
}
