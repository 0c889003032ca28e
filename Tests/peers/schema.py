#!/usr/bin/env python3
"""Validates configurations by config/schema.json, as an editor does: the published ones are valid, and each of the
contradictions below is found.

    .venv/bin/python Tests/peers/schema.py
"""

import json
import pathlib
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Sections that are valid alone, and a key beside which they are not.
CONTRADICTIONS = [
    ("listeners: [{address: '[::1]:80', callers: {anyone: %s, unix: {uids: [0]}}}]", "false", "true"),
    ("cache: {redis: 'redis://[::1]', sentinel: a, cluster: %s}", "false", "true"),
    ("cache: {redis: 'redis://[::1]', %s: a}", "user", "sentinel_user"),
    ("applications: {a: {authority: 'https://a', client_id: b, client_secret: c, %s}}", "proxy: none",
     "credential: {secret: {value: d}}"),
    ("applications: {a: {credential: {managed_identity: {client_id: a, %s}}}}", "source: imds", "object_id: b"),
    ("applications: {a: {authority: 'https://a', client_id: b, credential: {certificate: {pfx_file: c, %s: d}}}}",
     "passphrase", "key_file"),
    ("routes: [{name: a, path: /, upstream: 'https://a', token: {as: %s, account: a}}]", "account", "application"),
    ("routes: [{name: a, path: /, upstream: 'https://a', token: {as: %s, grant: jwt_bearer}}]", "caller", "account"),
    ("routes: [{name: a, path: /, upstream: 'https://a', token: {header: X-A, value: b, %s}}]", "existing: keep",
     "tenant: c"),
]


def main():
    schema = json.loads((ROOT / "config/schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    published = [path for place in ("config", "deploy") for path in sorted((ROOT / place).rglob("*.yaml"))
                 if "yaml-language-server" in path.read_text() or path.name.startswith("proxy")]
    failures = []
    for path in published:
        document = yaml.safe_load(path.read_text())
        failures += [f"{path.relative_to(ROOT)}: {error.json_path}: {error.message}" for error
                     in jsonschema.Draft202012Validator(schema).iter_errors(document)]
    # A part of a file has neither listeners nor routes.
    part = jsonschema.Draft202012Validator({**schema, "required": []})
    for text, right, wrong in CONTRADICTIONS:
        failures += [f"refused: {text % right}: {error.message}" for error
                     in part.iter_errors(yaml.safe_load(text % right))]
        if part.is_valid(yaml.safe_load(text % wrong)):
            failures.append(f"taken: {text % wrong}")
    if not published or failures:
        sys.exit("\n".join(failures) or "no configuration is published")
    print(f"{len(published)} configurations are valid, {len(CONTRADICTIONS)} contradictions are found")


main()
