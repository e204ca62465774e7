import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ownTemporaryFolder } from '@notebridge/system/files/temporary-folder';
import type { SandboxSpec } from '../spec.js';
import { writtenFolderOf } from '../written-folders.js';
import { createRelay, type RelayOptions } from './relay.js';

/** A relay on a socket in a folder that only this user can open. Rejects for an entry that names no server. */
export async function openRelay(options: RelayOptions) {
  const relay = createRelay(options);
  const folder = await mkdtemp(join(ownTemporaryFolder(writtenFolderOf), 'notebridge-relay-'));
  const socket = join(folder, 'relay');
  await relay.listen(socket);
  return {
    /** The same program, with the way out. It is run by a Python 3. */
    widen(spec: SandboxSpec): SandboxSpec {
      const [python, ...args] = spec.command;
      return {
        ...spec,
        command: [python, ...withRelayInside(python, args)],
        environment: { ...spec.environment, ...proxyVariables },
        relay: { socket, inside: relaySocketInside, servers: options.allow },
      };
    },
    async close(): Promise<void> {
      await relay.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Where the relay's socket is in a sandbox. */
const relaySocketInside = '/run/relay';
/** Of the sandbox's own loopback, where nobody else is. */
const port = 3128;

/**
 * What libraries and programs look at for a proxy. The sandbox's own loopback needs none.
 */
const proxyVariables: { readonly [name: string]: string } = Object.fromEntries([
  ...['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'].map((name) => [name, `http://127.0.0.1:${port}`]),
  ...['no_proxy', 'NO_PROXY'].map((name) => [name, 'localhost,127.0.0.1,::1']),
]);

/** A command line that runs another one beside a program that passes connections to the relay. For any Python 3; it decides nothing. */
function withRelayInside(python: string, args: readonly string[]): string[] {
  return ['-I', '-S', '-c', program, python, ...args];
}

const program = `
import os, socket, sys, threading

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", ${port}))
listener.listen(64)
if os.fork() != 0:
    listener.close()
    os.execv(sys.argv[1], sys.argv[1:])
os.setsid()
empty = os.open("/dev/null", os.O_RDWR)
for fd in (0, 1, 2):
    os.dup2(empty, fd)
places = threading.BoundedSemaphore(64)

def pump(source, target):
    try:
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
    except OSError:
        pass
    for one, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            one.shutdown(how)
        except OSError:
            pass

def serve(client):
    relay = socket.socket(socket.AF_UNIX)
    try:
        relay.connect("${relaySocketInside}")
        back = threading.Thread(target=pump, args=(relay, client), daemon=True)
        back.start()
        pump(client, relay)
        back.join()
    except OSError:
        pass
    finally:
        client.close()
        relay.close()
        places.release()

while True:
    client, _ = listener.accept()
    places.acquire()
    threading.Thread(target=serve, args=(client,), daemon=True).start()
`;
