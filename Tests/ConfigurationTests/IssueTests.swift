// The message for each mistake; one mistake does not hide another.

import Testing

@testable import Configuration

@Suite struct `Configuration issues` {
  /// A fragment of a file that is otherwise right, and the issues it brings, without the file's name.
  static let cases: [(String, [String])] = [
    (
      "routes:\n  - {name: a, path: /, upstrem: 'http://[::1]', token: none}",
      [
        "1:1: error: the configuration needs 'listeners'",
        "2:5: error: routes[0] needs 'upstream'",
        "2:24: error: unknown key 'upstrem' in routes[0]; did you mean 'upstream'?",
      ]
    ),
    (
      "listeners: []\nroutes: []",
      [
        "1:12: error: listeners is empty: nobody could call", "2:9: error: routes is empty: nothing would be forwarded",
      ]
    ),
    (
      "listeners: 127.0.0.1:80\nroutes: {a: 1}",
      [
        "1:12: error: listeners takes a list, each element beginning with '-'",
        "2:9: error: routes takes a list, each element beginning with '-'",
      ]
    ),
    (
      // Characters that a terminal would obey are not repeated.
      "routes: []\n\"a\\e[2J\\u202Eb\": 1",
      [
        "1:1: error: the configuration needs 'listeners'", "1:9: error: routes is empty: nothing would be forwarded",
        "2:1: error: unknown key 'a [2J b'",
      ]
    ),
    ("just text", ["1:1: error: the configuration takes keys of its own (listeners: …, loops: …, admin: …)"]),
  ]

  @Test(arguments: cases)
  func `a whole file is refused with every issue`(text: String, expected: [String]) {
    #expect(issues(text) == expected)
  }

  private static let otherWays =
    "give the pages a listener of their own, or the public_url of what stands in front and adds it"

  static let listenerCases: [(String, [String])] = [
    (
      "address: localhost:8080",
      [
        "address: 'localhost:8080' names a host; a listener takes an IP address such as 127.0.0.1 or [::1]"
      ]
    ),
    (
      "address: 127.0.0.1",
      [
        "address: '127.0.0.1' is not an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/bearer-proxy.sock"
      ]
    ),
    (
      "address: '::1:80'",
      [
        "address: '::1:80' is not an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/bearer-proxy.sock"
      ]
    ),
    ("address: '127.0.0.1:65536'", ["address: '127.0.0.1:65536' has no port from 0 to 65535 behind the address"]),
    (
      "address: unix:run/x",
      [
        "address: 'unix:run/x' is not an absolute path of at most 107 bytes behind 'unix:'"
      ]
    ),
    (
      "address: 10.0.0.1:80",
      [
        "address: 10.0.0.1:80 can be reached from other machines: say under callers who may call (a header, a "
          + "certificate, a bearer token, or anyone: true), or listen at a loopback address or a unix socket"
      ]
    ),
    (
      "address: '[::]:8081', callers: {anyone: false}",
      [
        "address: [::]:8081 can be reached from other machines: say under callers who may call (a header, a "
          + "certificate, a bearer token, or anyone: true), or listen at a loopback address or a unix socket"
      ]
    ),
    ("address: 127.0.0.1:80, hosts: localhost", ["hosts takes a list: write [localhost]"]),
    ("address: 127.0.0.1:80, hosts: ['a:80']", ["hosts[0]: 'a:80' is not a host name (no scheme, no port)"]),
    ("address: 127.0.0.1:80, hosts: [a, a]", ["hosts[1] repeats 'a'"]),
    ("address: 127.0.0.1:80, callers: {anyone: yes}", ["callers.anyone is true or false, not 'yes'"]),
    (
      "address: 127.0.0.1:80, callers: {unix: {uids: [0]}}",
      ["callers.unix is for a unix socket; other callers show no user: take another rule"]
    ),
    (
      "address: 'unix:/x', callers: {unix: {uids: [root], gids: [-1]}}",
      [
        "callers.unix.uids[0] is a user's or group's number, not 'root'",
        "callers.unix.gids[0] is a user's or group's number, not '-1'",
      ]
    ),
    ("address: 'unix:/x', callers: {unix: {}}", ["callers.unix needs 'uids'"]),
    ("address: 127.0.0.1:80, callers: {header: {}}", ["callers.header needs 'name'", "callers.header needs 'value'"]),
    (
      "address: 127.0.0.1:80, callers: {header: {name: Host, value: 0123456789abcdef}}",
      ["callers.header.name: 'Host' has another meaning already; take a name such as X-Proxy-Key"]
    ),
    (
      "address: 127.0.0.1:80, callers: {header: {name: 'a b', value: 0123456789abcdef}}",
      ["callers.header.name: 'a b' is not a field name"]
    ),
    (
      "address: 127.0.0.1:80, callers: {header: {name: X-Key, value: short}}",
      ["callers.header: the secret is at least 16 visible ASCII characters: 'openssl rand -hex 24' makes one"]
    ),
    (
      "address: 127.0.0.1:80, callers: {certificate: {ca_file: cert.pem}}",
      ["callers.certificate needs a listener that speaks TLS: give it 'tls'"]
    ),
    (
      "address: 127.0.0.1:80, callers: {bearer: {authority: 'https://id.example/'}}",
      ["callers.bearer needs 'audiences'"]
    ),
    (
      "address: 127.0.0.1:80, callers: {bearer: {authority: 'https://id.example/', audiences: [a], "
        + "scopes: [a b, offline_access], public_url: 'https://mcp.example/mcp'}}",
      [
        "callers.bearer.scopes[0]: 'a b' is not one scope (no blanks, quotes, backslashes): write [a, b]",
        "callers.bearer.scopes[1]: 'offline_access' is asked for with every sign-in and is no API's scope",
        "callers.bearer.public_url: 'https://mcp.example/mcp' has a path; write scheme and host alone",
      ]
    ),
    (
      "address: 127.0.0.1:80, callers: {bearer: {authority: 'https://id.example/', audiences: [a], "
        + "public_url: 'http://mcp.example'}}",
      ["callers.bearer.public_url: 'http://mcp.example' is not https"]
    ),
    (
      "address: 127.0.0.1:80, callers: {anyone: true, header: {name: X-Key, value: 0123456789abcdef}}",
      ["callers has both 'anyone' and 'header'; keep one"]
    ),
    (
      "address: 127.0.0.1:80, callers: {origins: ['https://app.example/x', '*']}",
      [
        "callers.origins[0]: 'https://app.example/x' is not an origin such as https://app.example",
        "callers.origins[1]: '*' begins neither with https:// nor with http://: write the whole URL",
      ]
    ),
    (
      "address: 127.0.0.1:80, sign_in: yes",
      ["sign_in is true, false or {public_url: URL, limit: DURATION, logout: true}, not 'yes'"]
    ),
    ("address: 127.0.0.1:80, sign_in: {limit: 2h}", ["sign_in.limit is between 1s and 1h"]),
    (
      "address: 'unix:/x', sign_in: true",
      ["sign_in needs a public_url: by which address browsers reach unix:/x cannot be told from it"]
    ),
    (
      "address: 127.0.0.1:80, sign_in: {public_url: 'http://proxy.example'}",
      ["sign_in.public_url: 'http://proxy.example' is not https"]
    ),
    (
      "address: 127.0.0.1:80, sign_in: {public_url: 'https://proxy.example/x'}",
      ["sign_in.public_url: 'https://proxy.example/x' has a path; write scheme and host alone"]
    ),
    (
      "address: 127.0.0.1:80, sign_in: true, callers: {header: {name: X-Key, value: 0123456789abcdef}}",
      ["sign_in: no browser brings what callers.header demands; \(otherWays)"]
    ),
    (
      "address: 127.0.0.1:80, sign_in: {limit: 5m}, callers: {bearer: {authority: 'https://id.example', audiences: "
        + "[a]}}",
      ["sign_in: no browser brings what callers.bearer demands; \(otherWays)"]
    ),
    // A proxy in front may add it.
    (
      "address: 127.0.0.1:80, sign_in: {public_url: 'https://p.example'}, "
        + "callers: {header: {name: X-Key, value: 0123456789abcdef}}",
      []
    ),
    ("address: 127.0.0.1:80, sign_in: true, callers: {anyone: true}", []),
    ("address: 127.0.0.1:80, sign_in: true, callers: {origins: ['https://app.example']}", []),
    ("address: 127.0.0.1:80, tls: {certificate_file: cert.pem}", ["tls needs 'key_file'"]),
    (
      "address: 127.0.0.1:80, tls: {certificate_file: gone.pem, key_file: locked}",
      [
        "tls.certificate_file: cannot read dir/gone.pem: No such file or directory",
        "tls.key_file: cannot read dir/locked: Permission denied",
      ]
    ),
    ("address: ", ["address has no value"]),
    ("address: '${EMPTY}'", ["address is empty"]),
    (
      "address: '${GONE}'",
      ["address refers to 'GONE', which the environment does not have: set it where the process starts"]
    ),
    ("address: $HOME", ["address has a '$' that is neither '${NAME}' nor '$$' (a dollar)"]),
    (
      "address: '${DOLLAR}'",
      [
        "address: '${DOLLAR}' is not an address such as 127.0.0.1:8080, [::1]:8080 or unix:/run/bearer-proxy.sock"
      ]
    ),
  ]

  @Test(arguments: listenerCases)
  func `a listener is refused with the key`(fragment: String, expected: [String]) {
    let text = "listeners:\n  - {\(fragment)}\nroutes:\n  - {name: a, path: /, upstream: 'http://[::1]', token: none}"
    #expect(messages(text) == expected.map { "listeners[0]." + $0 })
  }

  static let processCases: [(String, [String])] = [
    ("loops: 0", ["loops is a whole number from 1 to 256, not '0'"]),
    ("loops: two", ["loops is a whole number from 1 to 256, not 'two'"]),
    (
      "log: {level: warn}",
      [
        "log.level is one of debug, info, warning, error, not 'warn'"
      ]
    ),
    ("log: {format: jsn}", ["log.format is one of json, text, not 'jsn'; did you mean 'json'?"]),
    ("log:", ["log takes keys of its own (level: …, format: …, access: …)"]),
    ("cache: {memory: false}", ["cache.memory is true, or 'file' says where tokens are kept instead"]),
    ("cache: {memory: true, file: tokens.json}", ["cache has both 'file' and 'memory'; keep one"]),
    ("cache: {file: tokens/}", ["cache.file names a file, not a directory: 'tokens/'"]),
    ("cache: {file: a.json, redis: redis://localhost}", ["cache has both 'file' and 'redis'; keep one"]),
    ("cache: {redis: http://localhost}", ["cache.redis begins neither with redis:// nor with rediss://"]),
    (
      "cache: {redis: \"redis://:s3cret@localhost\"}",
      ["cache.redis has a password in it; use password_file, or a variable for the whole URL"]
    ),
    (
      "cache: {redis: \"redis://a:s3cret@:0/x\"}",
      ["cache.redis ends in something that is not the number of a database, such as /0"]
    ),
    (
      "cache: {redis: redis://localhost, user: u}", ["cache.user needs 'password' or 'password_file'"]
    ),
    ("cache: {user: u}", ["cache.user is about 'redis', which cache does not have"]),
    ("cache: {redis: redis://localhost, tls: {ca_file: ca.pem}}", ["cache.tls is for rediss:// only"]),
    (
      "cache: {redis: redis://cache.example}",
      ["cache.redis: tokens would travel in clear to 'cache.example'; use rediss://, or allow_plaintext: true"]
    ),
    (
      "cache: {redis: rediss://cache.example, entra: desk}",
      ["cache.entra: there is no application 'desk'"]
    ),
    (
      "cache: {redis: rediss://cache.example, entra: desk}\napplications: {desk: {authority: 'https://id.example', "
        + "client_id: d}}",
      [
        "cache.entra: application 'desk' has no credential, so its tokens are those of people whose sign-ins are in "
          + "this cache, which they would have to open; name one with a credential"
      ]
    ),
    (
      "cache: {redis: redis://cache.example, allow_plaintext: true, entra: job}\napplications: {job: {authority: "
        + "'https://id.example', client_id: j, client_secret: s3cret-of-job}}",
      ["cache.entra needs rediss://: the token would travel in clear to 'cache.example'"]
    ),
    (
      "cache: {redis: 'rediss://a:s3cret@cache.example', entra: job}\napplications: {job: {authority: "
        + "'https://id.example', client_id: j, client_secret: s3cret-of-job}}",
      [
        "cache.redis has a password in it; use password_file, or a variable for the whole URL",
        "cache.entra: 'redis' has a password; keep one",
      ]
    ),
    ("cache: {fil: tokens.json}", ["unknown key 'fil' in cache; did you mean 'file'?"]),
    ("limits: {head_bytes: 32}", ["limits.head_bytes is a size such as 512B, 64KiB or 1MiB, not '32'"]),
    ("limits: {head_bytes: 1KiB}", ["limits.head_bytes is from 4KiB to 1MiB, not '1KiB'"]),
    (
      "limits: {body_bytes: 9999999999GiB}",
      [
        "limits.body_bytes is a size such as 512B, 64KiB or 1MiB, not '9999999999GiB'"
      ]
    ),
    ("shutdown: {limit: 30}", ["shutdown.limit is a duration such as 500ms, 30s, 5m or 1h, not '30'"]),
    ("shutdown: {limit: 0s}", ["shutdown.limit is a duration such as 500ms, 30s, 5m or 1h, not '0s'"]),
    ("admin: {address: 127.0.0.1:8080}", ["admin.address: 127.0.0.1:8080 is already the address of line 2"]),
    ("defaults: {tls: {server_name: a}}", ["unknown key 'server_name' in defaults.tls"]),
    ("defaults: {tls: {key_file: key.pem}}", ["defaults.tls needs 'certificate_file'"]),
    (
      "defaults: {timeouts: {idle: none}}",
      [
        "defaults.timeouts.idle is a duration such as 500ms, 30s, 5m or 1h, not 'none'"
      ]
    ),
    (
      "applications: {a b: {authority: https://i.example, client_id: c}}",
      [
        "applications: 'a b' is not a name of at most 64 letters, digits, '-', '_', '.'"
      ]
    ),
    ("applications: [a]", ["applications takes a name and, below it, keys"]),
    ("applications: {a: {}}", ["applications.a needs 'authority'", "applications.a needs 'client_id'"]),
    (
      "applications: {a: {authority: 'https://login.microsoftonline.com/organizations', client_id: c, family_tokens: "
        + "true}}",
      [
        "applications.a.family_tokens is for Azure CLI's client_id alone (04b07795-8ddb-461a-bbee-02f9e1bf7b46), "
          + "without a secret"
      ]
    ),
    (
      "applications: {a: {authority: 'https://login.microsoftonline.com/organizations', family_tokens: true, "
        + "client_id: 04B07795-8ddb-461a-bbee-02f9e1bf7b46}}", []
    ),
    (
      "applications: {a: {authority: 'https://id.example', client_id: c, azure_region: West, domain_hint: a@b}}",
      [
        "applications.a.azure_region is for Microsoft Entra's hosts; id.example has no regions",
        "applications.a.azure_region needs a credential: regions serve an application's own tokens alone",
        "applications.a.azure_region is auto or a region such as westeurope, not 'West'",
        "applications.a.domain_hint is for Microsoft's providers; id.example knows no domain_hint",
        "applications.a.domain_hint is a domain such as contoso.com, organizations or consumers, not 'a@b'",
      ]
    ),
    (
      "applications: {a: {authority: 'https://login.microsoftonline.com/organizations', family_tokens: true, "
        + "client_id: 04B07795-8ddb-461a-bbee-02f9e1bf7b46, offline_access: false}}",
      ["applications.a.offline_access: false contradicts 'family_tokens', which are refresh tokens"]
    ),
    (
      "applications: {a: {authority: 'https://i.example', client_id: c, credential: {certificate: "
        + "{certificate_file: secret, claims: {jti: '1'}}}}}",
      ["applications.a.credential.certificate.claims.jti: each assertion has a value of its own for it; leave it out"]
    ),
    (
      "applications: {a: {authority: http://id.example, client_id: c}}",
      [
        "applications.a.authority: the client secret would travel in clear to 'http://id.example'; http: is for a "
          + "loopback address only"
      ]
    ),
    (
      "applications: {a: {authority: id.example, client_id: c}}",
      [
        "applications.a.authority: 'id.example' begins neither with https:// nor with http://: write the whole URL"
      ]
    ),
    (
      "applications: {a: {authority: https://login.microsoftonline.com/, client_id: c}}",
      [
        "applications.a.authority: 'https://login.microsoftonline.com/' names no tenant: add its id or domain to the "
          + "path"
      ]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_secret: s3cret, "
        + "client_secret_file: secret}}",
      [
        "applications.a has both 'client_secret' and 'client_secret_file'; keep one"
      ]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_secret: s3cret, client_assertion_file: "
        + "secret}}",
      ["applications.a has both 'client_secret' and 'client_assertion_file'; keep one"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_secret: s3cret, credential: "
        + "{assertion: {file: secret}}}}",
      ["applications.a has both 'client_secret' and 'credential'; keep one"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {}}}",
      [
        "applications.a.credential needs one of secret, assertion, assertion_command, certificate, mutual_tls, "
          + "managed_identity, federated, workload_identity"
      ]
    ),
    (
      "applications: {a: {authority: 'http://localhost:9', client_id: c, credential: {mutual_tls: {certificate_file: "
        + "cert.pem, key_file: key.pem}}}}",
      ["applications.a.credential.mutual_tls needs an authority with https:, whose handshake shows the certificate"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {mutual_tls: {pfx_file: cert.pem, "
        + "key_file: key.pem, algorithm: RS256}}}}",
      [
        "applications.a.credential.mutual_tls has both 'key_file' and 'pfx_file'; keep one",
        "unknown key 'algorithm' in applications.a.credential.mutual_tls",
      ]
    ),
    (
      "applications: {a: {authority: 'https://login.microsoftonline.de/t', client_id: c}}",
      [
        "applications.a.authority: login.microsoftonline.de was Microsoft's cloud in Germany, which was closed in 2021"
          + ": its tenants are gone"
      ]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {secret: {value: s3cret}, assertion: "
        + "{file: secret}}}}",
      ["applications.a.credential has both 'secret' and 'assertion'; keep one"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {managed_identity: {source: aks}}, "
        + "proxy: none}}",
      [
        "applications.a.authority has no meaning with a managed identity, which asks no provider",
        "applications.a.client_id has no meaning with a managed identity, which asks no provider",
        "applications.a.credential.managed_identity.source is one of imds, app_service, azure_ml, cloud_shell, arc, "
          + "service_fabric, not 'aks'",
        "applications.a.proxy has no meaning with a managed identity, which asks no provider",
      ]
    ),
    (
      "applications: {a: {credential: {managed_identity: {client_id: a, object_id: b}}}}",
      ["applications.a.credential.managed_identity has both 'client_id' and 'object_id'; keep one"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {federated: {}}}}",
      ["applications.a.credential.federated needs one of managed_identity, gcp, github_actions, application"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {federated: {gcp: {}, application: "
        + "b}}}}",
      ["applications.a.credential.federated has both 'gcp' and 'application'; keep one"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {federated: {github_actions: {}, "
        + "audience: a b}}}}",
      [
        "applications.a.credential.federated.github_actions: the environment has no ACTIONS_ID_TOKEN_REQUEST_URL: a "
          + "job has it with the permission 'id-token: write'",
        "applications.a.credential.federated.audience: 'a b' is not one word without blanks, quotes and backslashes",
      ]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {federated: {application: bb}}}, "
        + "bbb: {authority: https://i.example, client_id: c}}",
      ["applications.a.credential.federated.application: there is no application 'bb'; did you mean 'bbb'?"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {federated: {application: b}}}, "
        + "b: {authority: https://i.example, client_id: c}}",
      [
        "applications.a.credential.federated.application: application 'b' has no credential, so it has no tokens of "
          + "its own"
      ]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {federated: {application: a}}}}",
      ["applications.a.credential.federated.application: applications prove one another in a circle: a, a"]
    ),
    (
      "applications: {a: {credential: {workload_identity: {token_proxy: true}}}}",
      [
        "applications.a.credential.workload_identity: the environment has no AZURE_FEDERATED_TOKEN_FILE: does the pod "
          + "have the label azure.workload.identity/use, and a service account with a client id?",
        "applications.a.credential.workload_identity.token_proxy: the environment has no AZURE_KUBERNETES_TOKEN_PROXY: "
          + "does the cluster have an identity binding for this service account?",
      ]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {assertion: {file: secret, type: "
        + "saml}}}}",
      ["applications.a.credential.assertion.type is one of jwt-bearer, jwt-spiffe, not 'saml'"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, "
        + "credential: {federated: {managed_identity: {}, audience: ''}}}}",
      [
        "applications.a.credential.federated.managed_identity names no identity: as a credential only a user-assigned "
          + "one "
          + "is accepted; write its 'client_id'",
        "applications.a.credential.federated.audience is empty",
      ]
    ),
    (
      "applications: {a: {credential: {managed_identity: {source: azure_ml}}}}",
      [
        "applications.a.credential.managed_identity: source 'azure_ml' needs the variable MSI_ENDPOINT, which the "
          + "environment does not have"
      ]
    ),
    (
      "applications: {a: {credential: {managed_identity: {}}}, b: {client_secret: s3cret, credential: "
        + "{managed_identity: {}}}}",
      ["applications.b has both 'client_secret' and 'credential'; keep one"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {secret: {}}}}",
      ["applications.a.credential.secret needs 'value'"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {assertion: {}}}}",
      ["applications.a.credential.assertion needs 'file'"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {certificat: {}}}}",
      [
        "applications.a.credential needs one of secret, assertion, assertion_command, certificate, mutual_tls, "
          + "managed_identity, federated, workload_identity",
        "unknown key 'certificat' in applications.a.credential; did you mean 'certificate'?",
      ]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {certificate: {key_file: secret}}}}",
      ["applications.a.credential.certificate needs 'certificate_file'"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, "
        + "credential: {certificate: {certificate_file: secret, pfx_file: secret}}}}",
      ["applications.a.credential.certificate has both 'certificate_file' and 'pfx_file'; keep one"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {certificate: {pfx_file: gone}}}}",
      ["applications.a.credential.certificate.pfx_file: cannot read dir/gone: No such file or directory"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {certificate: "
        + "{certificate_file: secret, passphrase: a, passphrase_file: secret, algorithm: HS256, audience: me, "
        + "send_chain: 1}}}}",
      [
        "applications.a.credential.certificate has both 'passphrase' and 'passphrase_file'; keep one",
        "applications.a.credential.certificate.algorithm is one of PS256, RS256, ES256, ES384, ES512, not 'HS256'; "
          + "did you mean 'PS256'?",
        "applications.a.credential.certificate.audience is one of token_endpoint, issuer, not 'me'",
        "applications.a.credential.certificate.send_chain is true or false, not '1'",
      ]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_authentication: client_secret_post, "
        + "credential: {certificate: {certificate_file: secret}}}}",
      ["applications.a.client_authentication needs 'client_secret' or 'client_secret_file' beside it"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_authentication: client_secret_post}}",
      ["applications.a.client_authentication needs 'client_secret' or 'client_secret_file' beside it"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_secret: s3cret, "
        + "client_authentication: basic}}",
      ["applications.a.client_authentication is one of client_secret_basic, client_secret_post, not 'basic'"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_assertion_file: gone}}",
      ["applications.a.client_assertion_file: cannot read dir/gone: No such file or directory"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_secret_file: gone}}",
      [
        "applications.a.client_secret_file: cannot read dir/gone: No such file or directory"
      ]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_secret_file: blank}}",
      [
        "applications.a.client_secret_file: dir/blank is empty"
      ]
    ),
    ("applications: {a: {authority: https://i.example, client_id: c, client_secret: s}}", [short("client_secret")]),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_secret: '12345'}}",
      [short("client_secret")]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, credential: {secret: {value_file: small}}}}",
      [short("credential.secret.value_file")]
    ),
    ("applications: {a: {authority: https://i.example, client_id: c, client_secret: '123456'}}", []),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_secret: '        '}}",
      ["applications.a.client_secret has blanks and line ends alone, which are no secret"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_secret_file: spaces}}",
      ["applications.a.client_secret_file: dir/spaces has blanks and line ends alone, which are no secret"]
    ),
    (command("{command: /bin/a -v}"), [key("command takes a list: [/path/of/program, argument]; no shell reads it")]),
    (command("{command: []}"), [key("command takes a list: [/path/of/program, argument]; no shell reads it")]),
    (command("{timeout: 1s}"), ["applications.a.credential.assertion_command needs 'command'"]),
    (
      command("{command: [sign]}"),
      [key("command[0]: 'sign' is not the whole path of a program: begin it with '/'")]
    ),
    (
      command("{command: [/bin/a], environment: [NOT_THERE], timeout: 61s}"),
      [
        key("environment[0] names 'NOT_THERE', which the environment does not have: set it where the process starts"),
        key("timeout is at most 60s"),
      ]
    ),
    (
      command("{command: [/bin/writable]}"),
      [key("command[0]: /bin/writable can be written by everybody on this machine (mode 0777); chmod o-w helps")]
    ),
    // A neighbour's password is never looked for in answers, so that one letter harms nothing.
    ("cache: {redis: 'redis://127.0.0.1', password_file: small}", []),
    (
      "cache: {redis: 'redis://127.0.0.1', password: '  '}",
      ["cache.password has blanks and line ends alone, which are no secret"]
    ),
    (
      "applications: {a: {authority: https://i.example, client_id: c, client_secret_file: big}}",
      [
        "applications.a.client_secret_file: cannot read dir/big: larger than 64 KiB"
      ]
    ),
  ]

  private static func command(_ text: String) -> String {
    "applications: {a: {authority: https://i.example, client_id: c, credential: {assertion_command: \(text)}}}"
  }

  private static func key(_ rest: String) -> String { "applications.a.credential.assertion_command.\(rest)" }

  private static func short(_ key: String) -> String {
    "applications.a.\(key): a client secret has at least 6 bytes; a shorter one is a mistake, or the provider must "
      + "give another"
  }

  @Test(arguments: processCases)
  func `a setting of the process is refused with the key`(fragment: String, expected: [String]) {
    let text =
      "listeners:\n  - address: 127.0.0.1:8080\nroutes:\n  - {name: a, path: /, upstream: 'http://[::1]', token: "
      + "none}\n"
    #expect(messages(text + fragment) == expected)
  }

  private func issues(_ text: String) -> [String] {
    do throws(ConfigurationError) {
      _ = try decoded(text)
      return []
    } catch {
      return error.issues.map { String($0.description.dropFirst("dir/f.yaml:".count)) }
    }
  }
}

/// The issues of a text, without their places.
func messages(_ text: String) -> [String] {
  do throws(ConfigurationError) {
    _ = try decoded(text)
    return []
  } catch {
    return error.issues.map { issue in
      issue.message + (issue.suggestion.map { "; did you mean '\($0)'?" } ?? "")
    }
  }
}
