"""The real msal package as an application that a certificate proves, at an OpenID provider. Prints the algorithm of its
assertion; ends with 1 where the provider refuses it.

    msal_certificate.py --ca FILE --issuer URL --client ID --certificate FILE --key FILE --scope SCOPE
"""

import argparse
import base64
import json
import sys

import msal
import requests


class Session(requests.Session):
    """Notes what is posted."""

    def post(self, url, data=None, **arguments):
        self.form = data
        return super().post(url, data=data, **arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ["ca", "issuer", "client", "certificate", "key", "scope"]:
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    session = Session()
    session.trust_env, session.verify = False, options.ca
    with open(options.certificate) as certificate, open(options.key) as key:
        credential = {"public_certificate": certificate.read(), "private_key": key.read()}
    result = msal.ConfidentialClientApplication(
        options.client, oidc_authority=options.issuer, client_credential=credential, http_client=session,
    ).acquire_token_for_client([options.scope])
    if "access_token" not in result:
        sys.exit("refused: %s" % json.dumps(result))
    head = session.form["client_assertion"].split(b".")[0]
    print(json.loads(base64.urlsafe_b64decode(head + b"=="))["alg"])


main()
