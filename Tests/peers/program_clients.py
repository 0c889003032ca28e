"""Programs that get tokens for connections of their own, as the libraries of others make them. Each takes one token, or
one answer of an API, and prints it: `token T`, `answer A`, or `error CLASS TEXT` and the end with status 1.

    program_clients.py oauthlib|authlib-basic|authlib-form URL CLIENT SECRET [SCOPE]
    program_clients.py authlib-metadata URL
    program_clients.py identity|chain|msal RESOURCE [CLIENT_ID]      with the variables of a managed identity
    program_clients.py probe RESOURCE                                the chain's question whether there is an identity
    program_clients.py blob ORIGIN CA [AUDIENCE] | vault ORIGIN CA   the same, at an API
    program_clients.py azure-cli ORIGIN RESOURCE                     `az login --identity`, and a token for the resource
    program_clients.py kafka-oidc URL CLIENT SECRET [SCOPE] | kafka-imds [URL] RESOURCE
    program_clients.py each

The kafka programs speak to a broker of this file, which ends the conversation when the token has come. `each` reads one
JSON object a line from standard input, {"words": […], "environment": {…}}, and prints the result of each on a line.
"""

import json
import os
import socket
import struct
import sys
import threading


def oauthlib(url, client, secret, scope=None):
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    from oauthlib.oauth2 import BackendApplicationClient
    from requests_oauthlib import OAuth2Session

    session = OAuth2Session(client=BackendApplicationClient(client_id=client, scope=scope))
    return session.fetch_token(url, client_id=client, client_secret=secret)["access_token"]


def authlib(method):
    def run(url, client, secret, scope=None):
        from authlib.integrations.requests_client import OAuth2Session

        session = OAuth2Session(client, secret, scope=scope, token_endpoint_auth_method=method)
        token = session.fetch_token(url, grant_type="client_credentials")
        assert token["token_type"] == "Bearer" and token["expires_in"] > 0, token
        return token["access_token"]

    return run


def metadata(url):
    import requests
    from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

    document = requests.get(url + "/.well-known/oauth-authorization-server", timeout=60).json()
    assert document["issuer"] == url
    # Authlib's checks, but that for https and for endpoints that no client of ours has.
    server = AuthorizationServerMetadata(document)
    server.validate_grant_types_supported()
    server.validate_token_endpoint_auth_methods_supported()
    server.validate_response_types_supported()
    return document["token_endpoint"]


def identity(resource, client=None):
    from azure.identity import ManagedIdentityCredential

    return ManagedIdentityCredential(client_id=client).get_token(resource + "/.default").token


def chain(resource, client=None):
    from azure.identity import DefaultAzureCredential

    return DefaultAzureCredential(managed_identity_client_id=client).get_token(resource + "/.default").token


def msal(resource, client=None):
    import msal as library
    import requests

    which = library.UserAssignedManagedIdentity(client_id=client) if client else library.SystemAssignedManagedIdentity()
    answer = library.ManagedIdentityClient(which, http_client=requests.Session()).acquire_token_for_client(
        resource=resource)
    if "access_token" not in answer:
        raise ValueError("%(error)s: %(error_description)s" % answer)
    assert answer["expires_in"] > 0 and answer["token_type"] == "Bearer"
    return answer["access_token"]


def probe(resource):
    from azure.identity._credentials.imds import ImdsCredential

    return ImdsCredential(_enable_imds_probe=True).get_token(resource + "/.default").token


def blob(origin, authority, audience=None):
    from azure.identity import DefaultAzureCredential
    from azure.storage.blob import BlobClient

    client = BlobClient(
        origin, "container", "blob", credential=DefaultAzureCredential(), connection_verify=authority, retry_total=0,
        audience=audience)
    return client.download_blob(encoding="utf-8").readall()


def vault(origin, authority):
    from azure.identity import DefaultAzureCredential
    from azure.keyvault.secrets import SecretClient

    client = SecretClient(
        origin, DefaultAzureCredential(), verify_challenge_resource=False, connection_verify=authority, retry_total=0)
    return client.get_secret("name").value


def azure_cli(origin, resource):
    """Azure CLI's own code, from azure-cli-core: the environment of its packages has nothing else."""
    from azure.cli.core import get_default_cli
    from azure.cli.core._profile import Profile

    cli = get_default_cli()
    cli.cloud.endpoints.resource_manager = origin
    profile = Profile(cli_ctx=cli)
    subscriptions = profile.login_with_managed_identity()
    assert [each["name"] for each in subscriptions] == ["sample"], subscriptions
    return profile.get_raw_token(resource=resource)[0][1]


class Broker(threading.Thread):
    """As much of a Kafka broker as comes before the token (KIP-43, KIP-152): versions, handshake, authentication."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.token, self.arrived = None, threading.Event()

    def run(self):
        while True:
            stream = self.listener.accept()[0].makefile("rwb")
            threading.Thread(target=self.serve, args=(stream,), daemon=True).start()

    def serve(self, stream):
        while True:
            size = stream.read(4)
            if len(size) < 4:
                return
            frame = stream.read(struct.unpack(">i", size)[0])
            key, version, correlation = struct.unpack(">hhi", frame[:8])
            if key == 18:
                ranges = [(17, 0, 1), (18, 0, 0), (36, 0, 0), (3, 0, 1)]
                # Version 0 says what there is, also to a question of a later one.
                body = struct.pack(">hi", 0 if version == 0 else 35, len(ranges))
                body += b"".join(struct.pack(">hhh", *each) for each in ranges)
            elif key == 17:
                name = b"OAUTHBEARER"
                body = struct.pack(">hih", 0, 1, len(name)) + name
            elif key == 36:
                client = struct.unpack(">h", frame[8:10])[0]
                message = frame[10 + max(client, 0) + 4:]
                self.token = next(
                    part[len(b"auth=Bearer "):] for part in message.split(b"\x01") if part.startswith(b"auth=Bearer "))
                self.arrived.set()
                return
            else:
                return
            answer = struct.pack(">i", correlation) + body
            stream.write(struct.pack(">i", len(answer)) + answer)
            stream.flush()


def kafka(settings):
    from confluent_kafka import Producer

    broker, problems = Broker(), []
    broker.start()
    producer = Producer({
        "bootstrap.servers": "127.0.0.1:%d" % broker.port, "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanisms": "OAUTHBEARER", "sasl.oauthbearer.method": "oidc", "log_level": 0,
        "error_cb": problems.append, **settings})
    for _ in range(600):
        producer.poll(0.1)
        if broker.arrived.is_set():
            return broker.token.decode()
        failures = [p for p in problems if "_AUTHENTICATION" in p.name() or "OIDC" in str(p) or "token" in str(p)]
        if failures:
            raise ValueError(str(failures[0]))
    raise TimeoutError(str(problems))


def kafka_oidc(url, client, secret, scope=None):
    scopes = {"sasl.oauthbearer.scope": scope} if scope else {}
    return kafka({
        "sasl.oauthbearer.token.endpoint.url": url, "sasl.oauthbearer.client.id": client,
        "sasl.oauthbearer.client.secret": secret, **scopes})


def kafka_imds(url, resource):
    return kafka({
        "sasl.oauthbearer.metadata.authentication.type": "azure_imds", "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.oauthbearer.config": "query=api-version=2018-02-01&resource=" + resource})


PROGRAMS = {
    "oauthlib": oauthlib, "authlib-basic": authlib("client_secret_basic"),
    "authlib-form": authlib("client_secret_post"),
    "authlib-metadata": metadata, "identity": identity, "chain": chain, "msal": msal, "probe": probe, "blob": blob,
    "vault": vault, "azure-cli": azure_cli, "kafka-oidc": kafka_oidc, "kafka-imds": kafka_imds,
}


def result(name, *arguments):
    try:
        answer = PROGRAMS[name](*arguments)
    except Exception as error:
        return " ".join(["error", type(error).__name__, str(error).replace("\n", " ")])
    return " ".join(["answer" if name in ("blob", "vault", "authlib-metadata") else "token", answer])


def main():
    if sys.argv[1:] == ["each"]:
        inherited = dict(os.environ)
        for line in sys.stdin:
            row = json.loads(line)
            os.environ.clear()
            os.environ.update(inherited | row["environment"])
            print(result(*row["words"]), flush=True)
        os._exit(0)
    line = result(*sys.argv[1:])
    print(line, flush=True)
    # Threads of a library may wait for its next attempt.
    os._exit(1 if line.startswith("error") else 0)


if __name__ == "__main__":
    main()
