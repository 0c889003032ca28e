#!/usr/bin/env python3
"""The real msal package as the judge of what agent identities obtain; ends with 0 where everything holds.

    agents.py --ca FILE --origin https://… --api https://… --proxy http://… --secret FILE

msal asks as Microsoft's guide for agents has it: one application for the blueprint, another for the agent, whose
assertion is a token of the blueprint's for the agent's path. The proxy's routes `agent`, `user` and `caller` obtain the
same for the agent itself, for its account, and on behalf of a person who calls.
"""

import argparse
import os

import msal

from middle_tier import Scene, check, payload, report

TENANT = "c0a7050d-0000-4000-8000-000000000001"
BLUEPRINT, AGENT = "c0a7050d-0000-4000-8000-0000000000aa", "c0a7050d-0000-4000-8000-0000000000ab"
ACCOUNT, OBJECT = "helper@contoso.example", "c0a7050d-0000-4000-8000-0000000000d5"
PERSON = "alice@contoso.example"
EXCHANGE = ["api://AzureADTokenExchange/.default"]
ORDERS = ["api://orders/.default"]


class Agents:
    """The three legs, each msal's own."""

    def __init__(self, scene):
        self.blueprint = scene.middle(BLUEPRINT)
        self.agent = msal.ConfidentialClientApplication(
            AGENT, client_credential={"client_assertion": self.proof}, authority=scene.authority,
            instance_discovery=False, verify=scene.options.ca)

    @staticmethod
    def token(result, what):
        check("access_token" in result, what, result.get("error_description"))
        return result["access_token"]

    def proof(self):
        return self.token(
            self.blueprint.acquire_token_for_client(EXCHANGE, fmi_path=AGENT), "the blueprint has a token for it")

    def itself(self):
        return self.token(self.agent.acquire_token_for_client(ORDERS), "msal's agent asks for itself")

    def account(self, **user):
        own = self.token(self.agent.acquire_token_for_client(EXCHANGE), "msal's agent has a token for the exchange")
        return self.token(
            self.agent.acquire_token_by_user_federated_identity_credential(ORDERS, own, **user),
            "msal's agent asks for its account")

    def caller(self, assertion):
        return self.token(
            self.agent.acquire_token_on_behalf_of(assertion, ORDERS), "msal's agent asks on behalf of a person")


def same(scene, route, person, theirs, name):
    """What the API sees of the proxy's token and of msal's."""
    status, _, ours = scene.get("%s/%s/me" % (scene.options.proxy, route), person)
    check(status == 200, "the proxy's route %s gets through" % route, (status, ours))
    claims = payload(theirs)
    check(claims["azp"] == AGENT, "the token is the agent's", claims)
    status, _, body = scene.get(scene.options.api + "/api/me", theirs)
    check(status == 200 and report(ours) == report(body), "and the API sees the same", (ours, body))
    check(name in ours, "which is " + name, ours)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--ca", "--origin", "--api", "--proxy", "--secret"):
        parser.add_argument(name, required=True)
    # In requests, these beat verify=; and nothing here is behind a forward proxy.
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        os.environ.pop(name, None)
    os.environ["NO_PROXY"] = "*"
    scene = Scene(parser.parse_args())
    person = scene.sign_in("api://agents/Agents.Access")
    check(payload(person)["aud"] == BLUEPRINT, "the person's token is for the blueprint", payload(person)["aud"])
    agents = Agents(scene)
    same(scene, "agent", person, agents.itself(), AGENT)
    same(scene, "user", person, agents.account(username=ACCOUNT), ACCOUNT)
    same(scene, "object", person, agents.account(user_object_id=OBJECT), ACCOUNT)
    same(scene, "caller", person, agents.caller(person), PERSON)


if __name__ == "__main__":
    main()
