"""git 2.46 and newer, and a server that demands Bearer: what git says to a credential helper, and does with its answer.

    git_bearer.py URL HELPER

The lines are those of git 2.50.1, by git-credential(1) and gitcredentials(7): `get` when the server refuses, `store`
when it takes the credential, `erase` when it does not. URL is of a repository. Prints `status STATUS` of the request
with the credential, then what is wrong, if anything.
"""

import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request


def advertised(url, authorization=None):
    """The status and the challenges of the first request of a clone."""
    request = urllib.request.Request(url + "/info/refs?service=git-upload-pack")
    if authorization:
        request.add_header("Authorization", authorization)
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get_all("WWW-Authenticate") or []
    assert b"# service=git-upload-pack" in answer.read()
    return answer.status, []


def ask(helper, operation, lines):
    text = "".join(line + "\n" for line in lines)
    return subprocess.run(
        ["sh", "-c", helper + " " + operation], input=text.encode(), stdout=subprocess.PIPE, check=True
    ).stdout.decode().splitlines()


def main():
    url, helper = sys.argv[1:]
    status, challenges = advertised(url)
    assert status == 401, status
    parts = urllib.parse.urlsplit(url)
    server = ["protocol=" + parts.scheme, "host=" + parts.netloc]
    answer = ask(
        helper, "get",
        ["capability[]=authtype", "capability[]=state"] + server + ["wwwauth[]=" + each for each in challenges])
    # A helper's authtype and credential count only behind the capability.
    assert answer[0] == "capability[]=authtype", answer
    fields = dict(line.split("=", 1) for line in answer[1:])
    assert set(fields) == {"authtype", "credential", "ephemeral", "password_expiry_utc"}, sorted(fields)
    assert fields["authtype"] == "Bearer" and int(fields["password_expiry_utc"]) > 0
    status, _ = advertised(url, "%(authtype)s %(credential)s" % fields)
    print("status", status)
    credential = ["capability[]=authtype"] + [
        name + "=" + fields[name] for name in ("authtype", "credential", "ephemeral")] + server + [
            "password_expiry_utc=" + fields["password_expiry_utc"]]
    assert ask(helper, "store" if status == 200 else "erase", credential) == []


if __name__ == "__main__":
    main()
