"""Passes connections on, byte for byte: the way from a browser to a Jupyter that has none out.

Arguments: the port to listen at, and HOST:PORT behind it. Runs until it is stopped. Standard library only.
"""

import asyncio
import os
import signal
import sys

CHUNK = 65536
#: Connections at once: a page of JupyterLab has a dozen.
MOST = 512


async def main(port: int, target: str) -> None:
    host, _, target_port = target.rpartition(":")
    room = asyncio.Semaphore(MOST)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            async with room:
                answers, there = await asyncio.open_connection(host, int(target_port))
                writers.append(there)
                await asyncio.gather(copy(reader, there), copy(answers, writer))
        except OSError as error:  # Jupyter may still be starting: the browser is told by the end of its connection.
            print("front: %s: %s" % (target, error), file=sys.stderr, flush=True)
        finally:
            for each in writers:
                each.close()

    server = await asyncio.start_server(serve, "0.0.0.0", port)
    print("front: port %d goes to %s" % (server.sockets[0].getsockname()[1], target), file=sys.stderr, flush=True)
    # The first process of a container has to ask for its end. No connection is worth waiting for: a browser dials again.
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, os._exit, 0)
    await server.serve_forever()


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One direction to its end, which the other side is told. Raises OSError where the connection breaks: then both directions end."""
    while piece := await reader.read(CHUNK):
        writer.write(piece)
        await writer.drain()
    writer.write_eof()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
