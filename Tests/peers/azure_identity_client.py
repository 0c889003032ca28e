"""Azure's own library for Python (azure-identity) before the stand-ins: its ManagedIdentityCredential gets tokens from
identity_service.py, its CertificateCredential and WorkloadIdentityCredential from the sample provider. Ends with 0
where each does, and is refused where it has to be.

    azure_identity_client.py --identity PORT --provider ORIGIN --ca FILE --tenant ID
                             --certificate FILE --certificate-client ID --token FILE --token-client ID
"""

import argparse
import os
import sys

from azure.core.exceptions import ClientAuthenticationError
from azure.identity import CertificateCredential, ManagedIdentityCredential, WorkloadIdentityCredential

from identity_service import SECRET, USER_ASSIGNED

SCOPE = "https://orders.example/.default"


def expect(name, made, kind=None):
    try:
        token = made().token
    except ClientAuthenticationError as error:
        if kind is not None:
            sys.exit("%s: %s" % (name, error))
        print("ok: %s is refused: %s" % (name, str(error).splitlines()[0][:120]))
        return
    if kind is None or not token.startswith(kind):
        sys.exit("%s: %s" % (name, token))
    print("ok: %s" % name)


def managed(port):
    origin = "http://127.0.0.1:%d" % port
    client, resource = {"client_id": USER_ASSIGNED["client_id"]}, {"identity_config": {
        "resource_id": USER_ASSIGNED["msi_res_id"]}}
    scenes = {
        "imds": ({"AZURE_POD_IDENTITY_AUTHORITY_HOST": origin}, [{}, client, resource]),
        "msi": ({"IDENTITY_ENDPOINT": origin + "/msi/token", "IDENTITY_HEADER": SECRET}, [{}, client, resource]),
        "ml": ({"MSI_ENDPOINT": origin + "/ml/token", "MSI_SECRET": SECRET}, [client]),
        "shell": ({"MSI_ENDPOINT": origin + "/shell/token"}, [{}]),
    }
    for kind, (variables, identities) in scenes.items():
        os.environ.update(variables)
        for identity in identities:
            expect("%s %s" % (kind, sorted(identity)),
                   lambda: ManagedIdentityCredential(**identity).get_token(SCOPE), "managed.%s." % kind)
        if client in identities:
            expect("%s stranger" % kind, lambda: ManagedIdentityCredential(client_id="stranger").get_token(SCOPE))
        for name in variables:
            del os.environ[name]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--identity", type=int)
    for name in ["provider", "ca", "tenant", "certificate", "certificate-client", "token", "token-client"]:
        parser.add_argument("--" + name)
    arguments = parser.parse_args()
    managed(arguments.identity)
    common = {"tenant_id": arguments.tenant, "authority": arguments.provider, "disable_instance_discovery": True,
              "connection_verify": arguments.ca}
    scope = "api://orders/.default"
    expect("certificate", lambda: CertificateCredential(
        client_id=arguments.certificate_client, certificate_path=arguments.certificate,
        **common).get_token(scope), "ey")
    expect("another's certificate", lambda: CertificateCredential(
        client_id=arguments.token_client, certificate_path=arguments.certificate, **common).get_token(scope))
    expect("workload identity", lambda: WorkloadIdentityCredential(
        client_id=arguments.token_client, token_file_path=arguments.token, **common).get_token(scope), "ey")
    expect("another's token", lambda: WorkloadIdentityCredential(
        client_id=arguments.certificate_client, token_file_path=arguments.token, **common).get_token(scope))


if __name__ == "__main__":
    main()
