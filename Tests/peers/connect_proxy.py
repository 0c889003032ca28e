"""An outbound HTTP proxy for tests: makes tunnels to 127.0.0.1, whatever name is asked for, as if it alone knew the
names.

Prints `listening PORT`, and for each request `CONNECT AUTHORITY PROXY-AUTHORIZATION`. With --credential user:password
it answers 407 to everybody else; with --status it answers that instead of making a tunnel. Standard library only.
"""

import argparse
import asyncio
import base64


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(reader, writer, arguments):
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, OSError):
        writer.close()
        return
    lines = head.split("\r\n")
    method, target, _ = lines[0].split(" ")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
    print("request", method, target, fields.get("proxy-authorization", "-"), flush=True)
    wanted = "Basic " + base64.b64encode((arguments.credential or "").encode()).decode()
    if arguments.credential and fields.get("proxy-authorization") != wanted:
        writer.write(
            b"HTTP/1.1 407 Proxy Authentication Required\r\n"
            b"Proxy-Authenticate: Basic realm=p\r\nContent-Length: 0\r\n\r\n"
        )
    elif arguments.status:
        writer.write(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % arguments.status)
    elif method != "CONNECT":
        writer.write(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
    else:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", int(target.rpartition(":")[2]))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
        return
    await writer.drain()
    writer.close()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--credential", metavar="USER:PASSWORD")
    parser.add_argument("--status", type=int)
    arguments = parser.parse_args()
    server = await asyncio.start_server(lambda r, w: serve(r, w, arguments), "127.0.0.1", 0)
    print("listening", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
