"""A server of git repositories (git http-backend, the smart protocol) that takes only tokens of the provider's.

    git_server.py --provider URL --root DIRECTORY

Prints `listening PORT`, then for each request `request STATUS METHOD PATH`.
"""

import argparse
import http.server
import os
import subprocess

import token_handler


class Handler(token_handler.TokenHandler):
    root = ""

    def content(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def answer(self, status, fields, body):
        print("request", status, self.command, self.path, flush=True)
        self.respond(status, fields, body)

    def serve(self):
        content = self.content()
        if not self.is_known():
            return self.answer(401, [("WWW-Authenticate", 'Bearer realm="git"')], b"")
        path, _, query = self.path.partition("?")
        variables = {
            "GIT_PROJECT_ROOT": self.root, "GIT_HTTP_EXPORT_ALL": "1", "REMOTE_USER": "git", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "PATH": os.environ["PATH"],
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(content)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        output = subprocess.run(
            ["git", "http-backend"], input=content, env=variables, stdout=subprocess.PIPE, check=True).stdout
        head, _, body = output.partition(b"\r\n\r\n")
        fields = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")]
        status = next((int(value[:3]) for name, value in fields if name == "Status"), 200)
        self.answer(status, [field for field in fields if field[0] != "Status"], body)

    do_GET = do_POST = serve


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--provider", required=True)
    parser.add_argument("--root", required=True)
    arguments = parser.parse_args()
    Handler.provider, Handler.root = arguments.provider, arguments.root
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("listening", server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
