"""What the real msal package sends for the options that Microsoft's providers know, as one JSON object. Nothing is sent
anywhere: a double of the HTTP client takes each request and answers it.

    msal_requests.py --certificate FILE --key FILE
"""

import argparse
import base64
import json
import urllib.parse
import warnings

import msal

TENANT = "11111111-aaaa-4aaa-8aaa-111111111111"
AUTHORITY = "https://login.microsoftonline.com/" + TENANT
USER = "aaaaaaaa-0001-4001-8001-aaaaaaaaaaaa"


class Answer:
    status_code = 200
    headers = {}

    def __init__(self, document):
        self.text = json.dumps(document)

    def raise_for_status(self):
        pass


class Recorder:
    """Notes what is posted."""

    def get(self, url, **arguments):
        origin = url.split("/v2.0/")[0]
        return Answer({
            "issuer": AUTHORITY + "/v2.0", "token_endpoint": origin + "/oauth2/v2.0/token",
            "authorization_endpoint": origin + "/oauth2/v2.0/authorize",
        })

    def post(self, url, data=None, headers=None, **arguments):
        text = {key: value.decode() if isinstance(value, bytes) else str(value) for key, value in data.items()}
        self.request = {"url": url, "form": text, "anchor": (headers or {}).get("X-AnchorMailbox")}
        return Answer({"access_token": "AT", "token_type": "Bearer", "expires_in": 3600})

    def close(self):
        pass


def confidential(credential="s3cret", **options):
    recorder = Recorder()
    return recorder, msal.ConfidentialClientApplication(
        "client", client_credential=credential, authority=AUTHORITY, http_client=recorder, instance_discovery=False,
        **options)


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--certificate", required=True)
    parser.add_argument("--key", required=True)
    options = parser.parse_args()
    with open(options.certificate) as certificate, open(options.key) as key:
        credential = {"public_certificate": certificate.read(), "private_key": key.read()}

    told = {}
    recorder, app = confidential()
    app.acquire_token_on_behalf_of("INCOMING", ["api://down/read"])
    told["on_behalf_of"] = recorder.request
    app.acquire_token_by_user_federated_identity_credential(["api://down/read"], "PROOF", username="ann@contoso.com")
    told["user_by_name"] = recorder.request
    app.acquire_token_by_user_federated_identity_credential(["api://down/read"], "PROOF", user_object_id=USER)
    told["user_by_id"] = recorder.request
    recorder, app = confidential(azure_region="westeurope")
    app.acquire_token_for_client(["api://down/.default"])
    told["regional"] = recorder.request
    app.acquire_token_on_behalf_of("INCOMING", ["api://down/read"])
    told["regional_on_behalf_of"] = recorder.request
    recorder, app = confidential(credential, client_claims={"client_ip": "192.0.2.7"})
    app.acquire_token_for_client(["api://down/.default"])
    payload = recorder.request["form"]["client_assertion"].split(".")[1]
    told["signed"] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    for name, more in {"offline": {}, "online": {"exclude_scopes": ["offline_access"]}}.items():
        app = msal.PublicClientApplication(
            "client", authority=AUTHORITY, http_client=Recorder(), instance_discovery=False, **more)
        flow = app.initiate_auth_code_flow(
            ["api://down/read"], redirect_uri="http://localhost:8400", prompt=msal.Prompt.CREATE,
            login_hint="ann@contoso.com", domain_hint="contoso.com")
        told[name] = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(flow["auth_uri"]).query))
    print(json.dumps(told))


main()
