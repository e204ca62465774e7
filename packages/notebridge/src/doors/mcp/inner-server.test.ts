import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { describe, expect, it } from 'vitest';
import { InnerServer } from './session-relaying.js';

interface Answered {
  status: number;
  headers: Record<string, string>;
  body: string;
}

function put(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { method = 'POST', headers = {}, body = '', cancellation = new Cancellation() } = {},
): { answered: Promise<Answered>; pieces: string[] } {
  const pieces: string[] = [];
  const answer: Answered = { status: 0, headers: {}, body: '' };
  const to = {
    head: (status: number, given: Record<string, string>): void => void Object.assign(answer, { status, headers: given }),
    data: (piece: Buffer): void => {
      pieces.push(piece.toString());
      answer.body += piece.toString();
    },
  };
  const done = new InnerServer(handle).put({ method, headers, body }, { answer: to, cancellation, path: '/at', met: () => {} });
  return { answered: done.then(() => answer), pieces };
}

describe('a server without a port', () => {
  it('answers with status, headers and body, as from a port', async () => {
    const { answered } = put(
      (request, response) => {
        let text = '';
        request.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        request.on('end', () =>
          response.writeHead(201, { 'x-own': 'yes' }).end(`${request.method} ${request.url} ${request.headers.accept} ${text}`),
        );
      },
      { headers: { accept: 'text/plain' }, body: 'ä'.repeat(200_000) },
    );
    const { status, headers, body } = await answered;
    expect([status, headers['x-own']]).toEqual([201, 'yes']);
    expect(body).toBe(`POST /at text/plain ${'ä'.repeat(200_000)}`);
    expect(Object.keys(headers)).not.toContain('transfer-encoding');
  });

  it('streams, and answers with a body that is larger than any buffer', async () => {
    const { answered, pieces } = put((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n');
      setImmediate(() => response.end('x'.repeat(5_000_000)));
    });
    expect((await answered).body.length).toBe(5_000_011);
    expect(pieces[0]).toBe('data: one\n\n');
  });

  it('closes the connection when nobody waits any more', async () => {
    const cancellation = new Cancellation();
    let isClosed = false;
    const { answered } = put(
      (request, response) => {
        response.on('close', () => {
          isClosed = true;
        });
        request.resume();
        response.writeHead(200).write('begun');
        setImmediate(() => cancellation.cancel('gone'));
      },
      { cancellation },
    );
    await expect(answered).rejects.toThrow();
    await expect.poll(() => isClosed).toBe(true);
  });
});
