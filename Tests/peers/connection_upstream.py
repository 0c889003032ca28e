"""An upstream that authenticates connections instead of requests, as IIS does with NTLM and Negotiate: whoever has
shown a credential speaks for everything that follows on the connection. It checks no password; the user is who the last
message names.

/ntlm/…        wants NTLM's three messages, of which the answer to the first is a fixed challenge
/negotiate/…   wants one message, and says in its answer that the connection is authenticated
/quiet/…       takes one message of any scheme and says nothing of it but `Persistent-Auth`
/open/…        wants nothing, and answers all the same who the connection is authenticated for

Prints `listening PORT`, then `CONNECTION USER LINE` for each request: the user before it is read.
"""

import base64
import socketserver
import struct
import threading

lock = threading.Lock()
connections = 0


def say(*words):
    with lock:
        print(*words, flush=True)


def challenge():
    """NTLM's second message (MS-NLMP 2.2.1.2), with a target name and a terminator as its only target information."""
    name, info = "TEST".encode("utf-16-le"), b"\0\0\0\0"
    flags = 0x00000001 | 0x00000200 | 0x00008000 | 0x00010000 | 0x00080000 | 0x00800000
    head = b"NTLMSSP\0" + struct.pack("<IHHII", 2, len(name), len(name), 48, flags) + b"\1\2\3\4\5\6\7\x08" + b"\0" * 8
    return head + struct.pack("<HHI", len(info), len(info), 48 + len(name)) + name + info


def user_of(message):
    """The user in NTLM's third message, or the text where it is none."""
    if not message.startswith(b"NTLMSSP\0"):
        return message.decode("latin-1") or "-"
    length, _, offset = struct.unpack("<HHI", message[36:44])
    return message[offset : offset + length].decode(
        "utf-16-le" if struct.unpack("<I", message[60:64])[0] & 1 else "latin-1"
    )


class Connection(socketserver.StreamRequestHandler):
    wbufsize = 0
    disable_nagle_algorithm = True

    def handle(self):
        global connections
        with lock:
            connections += 1
            number = connections
        self.user = "-"
        try:
            while self.one(number):
                pass
        except ConnectionError:
            pass

    def answer(self, status, *fields):
        body = self.user.encode() + b"\n"
        head = "".join(f"{field}\r\n" for field in (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields))
        self.wfile.write(head.encode() + b"\r\n" + body)

    def one(self, number):
        lines = []
        while (line := self.rfile.readline(65536)) not in (b"\r\n", b""):
            lines.append(line.decode("latin-1").strip())
        if not lines:
            return False
        say("request", number, self.user, lines[0])
        fields = dict((name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:]))
        self.rfile.read(int(fields.get("content-length", 0)))
        scheme, _, text = fields.get("authorization", "").partition(" ")
        kind = lines[0].split(" ")[1].split("/")[1]
        if kind == "open" or self.user != "-":
            self.answer("200 OK")
        elif not text:
            self.answer("401 Unauthorized", "WWW-Authenticate: " + ("Negotiate" if kind == "negotiate" else "NTLM"))
        elif kind == "ntlm" and base64.b64decode(text)[8:9] == b"\1":
            self.answer("401 Unauthorized", "WWW-Authenticate: NTLM " + base64.b64encode(challenge()).decode())
        else:
            self.user = user_of(base64.b64decode(text))
            self.answer("200 OK", "Persistent-Auth: true" if kind != "ntlm" else "X-Kind: ntlm")
        return True


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


if __name__ == "__main__":
    with Server(("127.0.0.1", 0), Connection) as server:
        say("listening", server.server_address[1])
        server.serve_forever()
