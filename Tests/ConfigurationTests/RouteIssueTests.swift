// The message for each mistake in a route.

import Testing
import Tokens

@testable import Configuration

@Suite struct `Route issues` {
  static let beginning = """
    listeners:
      - address: 127.0.0.1:8080
    applications:
      generic: {authority: https://id.example, client_id: c, client_secret: s3cret}
      public: {authority: https://id.example, client_id: c}
      machine: {credential: {managed_identity: {}}}
      entra: {authority: https://login.microsoftonline.com/contoso.example, client_id: c, client_secret: s3cret}
      shared: {authority: https://login.microsoftonline.com/common, client_id: c, client_secret: s3cret}
      adfs: {authority: https://fs.example/adfs, client_id: c, client_secret: s3cret}
      broken: {authority: ftp://id.example, client_id: c}
    routes:

    """
  static let agent = "agent: 0a1b2c3d-0000-4000-8000-00000000000a"

  static let paths: [(String, String)] = [
    ("orders/", "'orders/' does not begin and end with '/'"),
    ("/orders", "'/orders' does not begin and end with '/'"),
    ("/a//b/", "'/a//b/' has an empty segment, '.' or '..'; requests are matched after those are resolved"),
    ("/a/../b/", "'/a/../b/' has an empty segment, '.' or '..'; requests are matched after those are resolved"),
    ("/a/..;x/b/", "'/a/..;x/b/' has an empty segment, '.' or '..'; requests are matched after those are resolved"),
    ("/a%20b/", "'/a%20b/' has a character that stands in a path only percent-encoded, or '%'"),
    ("/a?b/", "'/a?b/' has a character that stands in a path only percent-encoded, or '%'"),
    ("/.bearer/", "'/.bearer/' belongs to the proxy's own pages under /.bearer/"),
    ("/.bearer/x/", "'/.bearer/x/' belongs to the proxy's own pages under /.bearer/"),
    ("//", "'//' has an empty segment, '.' or '..'; requests are matched after those are resolved"),
  ]

  @Test(arguments: paths)
  func `a path that no request would match is refused`(path: String, expected: String) {
    let found = messages(
      """
      listeners:
        - address: 127.0.0.1:8080
      routes:
        - {name: a, path: '\(path)', upstream: 'http://[::1]', token: none}
      """)
    #expect(found == ["routes[0].path: " + expected])
  }

  static let ownListeners: [(listener: String, upstream: String, isOwn: Bool)] = [
    ("address: 127.0.0.1:8080", "http://127.0.0.1:8080/", true),
    ("address: 127.0.0.1:8080", "http://localhost:8080/a/", true),
    ("address: 127.0.0.1:8080", "https://127.0.0.1:8080/", true),
    ("address: 127.0.0.1:8080", "http://[::ffff:127.0.0.1]:8080/", true),
    ("address: 127.0.0.1:8080", "http://0.0.0.0:8080/", true), ("address: '[::1]:8080'", "http://[0:0::1]:8080/", true),
    ("address: '0.0.0.0:8080', callers: {anyone: true}", "http://127.0.0.1:8080/", true),
    ("address: '[::]:8080', callers: {anyone: true}", "http://localhost:8080/", true),
    ("address: 127.0.0.1:8080, hosts: [proxy.example]", "http://Proxy.Example:8080/", true),
    ("address: 127.0.0.1:8080", "http://127.0.0.1:8081/", false),
    ("address: 127.0.0.1:8080", "http://127.0.0.2:8080/", false),
    ("address: 127.0.0.1:8080, hosts: [proxy.example]", "http://proxy.example:80/", false),
    ("address: 127.0.0.1:8080", "http://api.example:8080/", false),
    ("address: 127.0.0.1:0", "http://127.0.0.1:8080/", false),
    ("address: 'unix:/run/p.sock'", "http://127.0.0.1:8080/", false),
    ("address: '0.0.0.0:8080', callers: {anyone: true}", "http://10.0.0.1:8080/", false),
  ]

  @Test(arguments: ownListeners)
  func `an upstream that is a listener of the same process is refused`(listener: String, upstream: String, isOwn: Bool)
  {
    let found = messages(
      """
      listeners:
        - {\(listener)}
      routes:
        - {name: a, path: /, upstream: '\(upstream)', token: none}
      """)
    let expected =
      "routes[0].upstream: route 'a' leads to this proxy's own listener on line 2: requests would come back and be "
      + "refused as a loop; name the API's own address"
    #expect(found == (isOwn ? [expected] : []))
  }

  @Test func `what a path may hold encoded is named in words that are known`() {
    let found = messages(
      """
      listeners: [{address: 127.0.0.1:8080}]
      limits: {head_bytes: 4KiB, target_bytes: 5KiB}
      routes:
        - {name: a, path: /, upstream: 'http://[::1]', token: none, encoded_path: [backslash, tabs]}
      """)
    #expect(
      found == [
        "limits.target_bytes is more than limits.head_bytes, which includes it",
        "routes[0].encoded_path[1] is one of backslash, percent, tab, line_feed, carriage_return, not 'tabs'; did you "
          + "mean 'tab'?",
      ])
  }

  static let upstreams: [(String, String)] = [
    ("orders.example", "'orders.example' begins neither with https:// nor with http://: write the whole URL"),
    ("https://", "'https://' has no host that could be looked up"),
    ("https://a:b@c/", "a URL here has no user name and no password in it: remove them"),
    ("https://a:0/", "'https://a:0/' has a port that is not a number from 1 to 65535"),
    ("https://a/b#c", "'https://a/b#c' has a fragment, a blank or a non-ASCII character"),
    ("https://a/b?c=d", "'https://a/b?c=d' has a query; the caller's query is passed on instead"),
    ("http://169.254.169.254/", "169.254.169.254 hands out this machine's cloud credentials and is never an upstream"),
    ("https://169.254.1.1/", "169.254.1.1 hands out this machine's cloud credentials and is never an upstream"),
    ("http://[fd00:ec2::254]/", "fd00:ec2::254 hands out this machine's cloud credentials and is never an upstream"),
    (
      "http://[::ffff:169.254.169.254]/",
      "::ffff:169.254.169.254 hands out this machine's cloud credentials and is never an upstream"
    ),
    ("http://[fd00:ec2::23]/", "fd00:ec2::23 hands out this machine's cloud credentials and is never an upstream"),
    ("http://[fd20:ce::254]/", "fd20:ce::254 hands out this machine's cloud credentials and is never an upstream"),
    (
      "http://[fd00:c1::a9fe:a9fe]/",
      "fd00:c1::a9fe:a9fe hands out this machine's cloud credentials and is never an upstream"
    ),
    ("http://[fd00:42::42]/", "fd00:42::42 hands out this machine's cloud credentials and is never an upstream"),
    (
      "http://[64:ff9b::a9fe:a9fe]/",
      "64:ff9b::a9fe:a9fe hands out this machine's cloud credentials and is never an upstream"
    ),
    ("http://100.100.100.200/", "100.100.100.200 hands out this machine's cloud credentials and is never an upstream"),
    ("http://168.63.129.16/", "168.63.129.16 hands out this machine's cloud credentials and is never an upstream"),
    ("http://[fe80::1]/", "fe80::1 hands out this machine's cloud credentials and is never an upstream"),
    (
      "http://METADATA.google.internal./x",
      "metadata.google.internal. hands out this machine's cloud credentials and is never an upstream"
    ),
    ("https://a.example/b/../c", "'https://a.example/b/../c' has '.', '..' or a needless percent-encoding in its path"),
    ("https://a.example/%62", "'https://a.example/%62' has '.', '..' or a needless percent-encoding in its path"),
    (
      "http://2852039166/",
      "'http://2852039166/' has a number as its host: write an address as four decimal numbers, or the host's name"
    ),
    (
      "http://0xa9.254.43518/",
      "'http://0xa9.254.43518/' has a number as its host: write an address as four decimal numbers, or the host's name"
    ),
  ]

  @Test func `a metadata service is no authority either, and addresses beside one are upstreams`() {
    let found = messages(
      """
      listeners:
        - address: 127.0.0.1:8080
      applications:
        machine: {authority: "https://[fd20:ce::254]/", client_id: c, client_secret: s3cret}
      routes:
        - {name: a, path: /a/, upstream: 'https://[fd20:ce::253]/', token: none}
        - {name: b, path: /b/, upstream: 'https://[64:ff9b::192.0.2.1]/', token: none}
      """)
    #expect(
      found == [
        "applications.machine.authority: fd20:ce::254 hands out this machine's cloud credentials and is never a "
          + "provider"
      ])
  }

  @Test(arguments: upstreams)
  func `an upstream that must not be contacted is refused`(upstream: String, expected: String) {
    let found = messages(
      """
      listeners:
        - address: 127.0.0.1:8080
      routes:
        - {name: a, path: /, upstream: '\(upstream)', token: none}
      """)
    #expect(found == ["routes[0].upstream: " + expected])
  }

  static let tokens: [(String, [String])] = [
    (
      "token: nonee",
      [
        "routes[0].token is none, {account: NAME, scopes: […]}, {as: application, scopes: […]}, "
          + "{header: NAME, value_file: FILE} or {basic: {…}}, not 'nonee'; did you mean 'none'?"
      ]
    ),
    (
      "application: generic",
      [
        "routes[0] needs 'token': none, {account: NAME, scopes: […]}, {as: application, scopes: […]}, "
          + "{header: NAME, value_file: FILE} or {basic: {…}}"
      ]
    ),
    ("application: generic, token: none", ["routes[0].application has no meaning on a route with token: none"]),
    (
      "application: generik, token: {as: application}",
      [
        "routes[0].application: there is no application 'generik'; did you mean 'generic'?"
      ]
    ),
    ("token: {as: application}", ["routes[0] needs 'application': whose token it is"]),
    ("application: generic, token: {scopes: [a]}", []), ("application: public, token: {as: account}", []),
    ("application: shared, token: {account: alice@contoso.example, scopes: [User.Read, Mail.Read]}", []),
    (
      "application: entra, token: {scopes: [User.Read, openid]}",
      ["routes[0].token.scopes: 'openid' is asked for with every sign-in and is no API's scope; leave it out"]
    ),
    (
      "application: entra, token: {account: a}",
      ["routes[0].token.scopes: name at least one scope: login.microsoftonline.com gives a token for one API"]
    ),
    (
      "application: entra, token: {scopes: ['api://a/.default', 'api://a/x']}",
      ["routes[0].token.scopes: login.microsoftonline.com takes 'api://a/.default' alone, without other scopes"]
    ),
    (
      "application: entra, token: {scopes: ['api://a/x', 'api://b/x']}",
      [
        "routes[0].token.scopes: a token is for one API, not for both api://a and api://b; give each a route of its own"
      ]
    ),
    (
      "application: entra, token: {scopes: [User.Read, 'api://b/x']}",
      [
        "routes[0].token.scopes: a token is for one API, not for both https://graph.microsoft.com and api://b; give "
          + "each a route of its own"
      ]
    ),
    (
      "application: entra, token: {scopes: ['11111111-1111-1111-1111-111111111111/x', 'api://b/x']}",
      [
        "routes[0].token.scopes: a token is for one API, not for both 11111111-1111-1111-1111-111111111111 and "
          + "api://b; give each a route of its own"
      ]
    ),
    // One API in several spellings.
    (
      "application: entra, token: {scopes: [User.Read, 'https://graph.microsoft.com/Mail.Read', email, "
        + "'00000003-0000-0000-c000-000000000000/Files.Read']}", []
    ),
    (
      "application: entra, token: {scopes: ['11111111-1111-1111-1111-111111111111/x', "
        + "'api://11111111-1111-1111-1111-111111111111/y', email]}", []
    ),
    ("application: generic, token: {scopes: [User.Read, 'api://b/x']}", []),
    (
      "application: generic, token: {as: application, account: alice}",
      ["routes[0].token.account has no meaning with as: application: that token is nobody's"]
    ),
    (
      "application: generic, token: {as: caller}",
      [
        "route 'a' exchanges its callers' tokens (as: caller), and the listener 127.0.0.1:8080 on line 2 demands none: "
          + "set 'callers: {bearer: …}' there"
      ]
    ),
    (
      "application: public, token: {as: caller}",
      [
        "routes[0].application: application 'public' has no credential (client_secret_file, client_assertion_file, "
          + "credential), which as: caller needs"
      ]
    ),
    (
      "application: machine, token: {as: caller, scopes: [a]}",
      ["routes[0].application: 'machine' is a managed identity, which exchanges no tokens of callers"]
    ),
    (
      "application: generic, token: {as: caller, account: alice, on_interaction_required: redirect}",
      ["routes[0].token.account has no meaning with as: caller: the token is that of whoever calls"]
    ),
    (
      "application: generic, token: {as: application, grant: token_exchange}",
      ["routes[0].token.grant has a meaning with as: caller only"]
    ),
    (
      "application: generic, token: {as: caller, grant: jwt_bearer, subject_token_type: 'a:b', actor: {file: x}}",
      [
        "routes[0].token.subject_token_type has no meaning with grant: jwt_bearer",
        "routes[0].token.actor has no meaning with grant: jwt_bearer",
      ]
    ),
    (
      "application: generic, token: {as: caller, requested_token_type: 'urn:ietf:params:oauth:token-type:id_token'}",
      [
        "routes[0].token.requested_token_type: 'urn:ietf:params:oauth:token-type:id_token' is no token for an API: "
          + "write urn:ietf:params:oauth:token-type:access_token or urn:ietf:params:oauth:token-type:jwt, or leave it "
          + "out"
      ]
    ),
    (
      "application: generic, token: {as: caller, subject_token_type: jwt}",
      [
        "routes[0].token.subject_token_type is a URI such as urn:ietf:params:oauth:token-type:access_token, not 'jwt'"
      ]
    ),
    (
      "application: entra, token: {as: agent, scopes: [a/.default]}", ["routes[0].token needs 'agent'"]
    ),
    (
      "application: entra, token: {as: agent, agent: helper, account: bob, scopes: [a/.default]}",
      [
        "routes[0].token.agent is the client id of an agent identity, a GUID, not 'helper'",
        "routes[0].token.account: an agent's user is named by its user name, USER@DOMAIN, or its object id, not 'bob'",
      ]
    ),
    (
      "application: entra, token: {as: application, \(agent), scopes: [a/.default]}",
      ["routes[0].token.agent has a meaning with as: agent and as: caller only"]
    ),
    (
      "application: generic, token: {as: caller, \(agent)}",
      ["routes[0].token.agent has no meaning with grant: token_exchange"]
    ),
    (
      "application: shared, token: {as: agent, \(agent), scopes: [a/.default]}",
      [
        "routes[0].token.agent: an agent is of one tenant, and the authority https://login.microsoftonline.com/common "
          + "names none: name one in 'tenant'"
      ]
    ),
    ("application: shared, token: {as: agent, tenant: a.example, \(agent), scopes: [a/.default]}", []),
    (
      "application: machine, token: {as: agent, \(agent), scopes: [a]}",
      [
        "routes[0].application: 'machine' is a managed identity, and agents are those of an application, which "
          + "'credential: {federated: {managed_identity: …}}' can prove"
      ]
    ),
    (
      "application: public, token: {as: agent, \(agent)}",
      [
        "routes[0].application: application 'public' has no credential (client_secret_file, client_assertion_file, "
          + "credential), which an agent needs"
      ]
    ),
    (
      "application: adfs, token: {as: agent, \(agent)}",
      ["routes[0].token.agent: fs.example has no agent identities; Microsoft Entra has"]
    ),
    (
      "application: entra, token: {as: agent, \(agent), scopes: [a/b]}",
      [
        "routes[0].token.scopes: login.microsoftonline.com gives an application a token for '<resource>/.default' "
          + "only, not for 'a/b'"
      ]
    ),
    (
      "application: entra, token: {as: agent, \(agent), account: a@b.example, scopes: [a/b], "
        + "on_interaction_required: redirect}",
      ["routes[0].token.on_interaction_required has no meaning with as: agent: nobody signs in for it"]
    ),
    (
      "application: entra, token: {as: agent, \(agent), scopes: [a/.default], choice: {field: X-A, values: {"
        + "a: {agent: b}, b: {account: bob}, c: {agent: 0a1b2c3d-0000-4000-8000-00000000000b}}}}",
      [
        "routes[0].token.choice.values.a.agent is the client id of an agent identity, a GUID, not 'b'",
        "routes[0].token.choice.values.b.account: an agent's user is named by its user name, USER@DOMAIN, or its "
          + "object id, not 'bob'",
      ]
    ),
    (
      "application: entra, token: {as: application, scopes: [a/.default], "
        + "choice: {field: X-A, values: {a: {\(agent)}}}}",
      ["routes[0].token.choice.values.a.agent has a meaning with as: agent and as: caller only"]
    ),
    (
      "application: generic, token: {as: application, choice: {field: Host, values: {a: {scopes: [a]}}}}",
      ["routes[0].token.choice.field: 'Host' is no name for a field of your own, such as X-Account"]
    ),
    (
      "application: generic, token: {as: application, choice: {field: X-A, values: {a: {account: b}, c: {}}}}",
      [
        "routes[0].token.choice.values.a.account has a meaning with as: account and as: agent only",
        "routes[0].token.choice.values.c says nothing else than the route: name an account, an agent, a tenant or "
          + "scopes",
      ]
    ),
    (
      "application: entra, token: {scopes: [User.Read], choice: {field: X-A, values: {a: {scopes: ['api://b/x', "
        + "'api://c/x']}}}}",
      [
        "routes[0].token.choice.values.a.scopes: a token is for one API, not for both api://b and api://c; give each a "
          + "route of its own"
      ]
    ),
    (
      "application: generic, token: {as: caller, grant: id_jag, resource_application: entra, resource: 'urn:api', "
        + "audience: a}",
      [
        "route 'a' exchanges its callers' tokens (as: caller), and the listener 127.0.0.1:8080 on line 2 demands none: "
          + "set 'callers: {bearer: …}' there",
        "routes[0].token.audience has no meaning with grant: id_jag, whose audience is the server of "
          + "'resource_application'",
      ]
    ),
    ("application: generic, token: {as: caller, grant: id_jag}", ["routes[0].token needs 'resource_application'"]),
    (
      "application: generic, token: {as: caller, grant: id_jag, resource_application: entre}",
      ["routes[0].token.resource_application: there is no application 'entre'; did you mean 'entra'?"]
    ),
    (
      "application: generic, token: {as: caller, grant: id_jag, resource_application: public}",
      [
        "routes[0].token.resource_application: 'public' has to be the application at the authorization server of the "
          + "API, which is another one than https://id.example"
      ]
    ),
    (
      "application: entra, token: {as: caller}",
      ["routes[0].token.scopes: name at least one scope: login.microsoftonline.com gives a token for one API"]
    ),
    (
      "application: generic, token: {as: aplication}",
      [
        "routes[0].token.as is account, agent, application or caller, not 'aplication'; did you mean 'application'?"
      ]
    ),
    (
      "application: generic, token: {as: application, scopes: [a b]}",
      [
        "routes[0].token.scopes[0]: 'a b' is not one scope (no blanks, quotes, backslashes): write [a, b]"
      ]
    ),
    (
      "application: generic, token: {as: application, scopes: []}",
      [
        "routes[0].token.scopes takes a list of at least one value: [a, b]"
      ]
    ),
    (
      "application: machine, token: {as: application, scopes: [a/.default, b/.default]}",
      ["routes[0].token.scopes: a managed identity's token is for one resource: name one scope"]
    ),
    (
      "application: machine, token: {account: alice, scopes: [a]}",
      ["routes[0].token: a managed identity has tokens of its own alone: write as: application"]
    ),
    (
      "application: machine, token: {as: application, scopes: [a/.default], audience: x}",
      [
        "routes[0].token.audience has no meaning with a managed identity, whose service takes a resource alone"
      ]
    ),
    (
      "application: generic, token: {as: application, audience: api, resource: 'urn:api', parameters: {a: o}}",
      []
    ),
    (
      "application: generic, token: {as: application, parameters: {grant_type: password}}",
      [
        "routes[0].token.parameters.grant_type: 'grant_type' is not for a route to set: other settings decide grant, "
          + "application and person"
      ]
    ),
    (
      "application: generic, token: {as: application, resource: api}",
      ["routes[0].token.resource: 'api' is not an absolute URI without a fragment (RFC 8707)"]
    ),
    (
      "application: generic, token: {as: application, parameters: [a]}",
      ["routes[0].token.parameters takes names with a value each: {name: value}"]
    ),
    (
      "application: entra, token: {scopes: ['api://a/x'], resource: 'urn:api'}",
      ["routes[0].token.resource: login.microsoftonline.com is told the resource by 'scopes': leave it out"]
    ),
    (
      "application: public, token: {as: application}",
      [
        "routes[0].application: application 'public' has no credential (client_secret_file, client_assertion_file, "
          + "credential), which as: application needs"
      ]
    ),
    (
      "application: entra, token: {as: application, scopes: [User.Read]}",
      [
        "routes[0].token.scopes: login.microsoftonline.com gives an application a token for '<resource>/.default' "
          + "only, not for 'User.Read'"
      ]
    ),
    (
      "application: entra, token: {as: application, scopes: [a/.default, b/.default]}",
      [
        "routes[0].token.scopes: login.microsoftonline.com gives an application a token for exactly one "
          + "'<resource>/.default', not for 2 scopes"
      ]
    ),
    (
      "application: shared, token: {as: application, scopes: [a/.default]}",
      [
        "routes[0].token.scopes: the authority https://login.microsoftonline.com/common names no tenant, so it has no "
          + "tokens for an application itself: name one in 'tenant'"
      ]
    ),
    ("application: shared, token: {as: application, tenant: contoso.example, scopes: [a/.default]}", []),
    (
      "application: entra, token: {as: application, tenant: common, scopes: [a/.default]}",
      [
        "routes[0].token.scopes: the authority https://login.microsoftonline.com/common names no tenant, so it has no "
          + "tokens for an application itself: name one in 'tenant'"
      ]
    ),
    (
      "application: shared, token: {as: application, tenant: a/b, scopes: [a/.default]}",
      ["routes[0].token.tenant: 'a/b' is not a tenant: neither an id, nor a domain"]
    ),
    (
      "application: generic, token: {tenant: contoso.example, scopes: [a]}",
      [
        "routes[0].token.tenant is for Entra's tenants; the authority https://id.example of application 'generic' has "
          + "none"
      ]
    ),
    ("application: broken, token: {as: application, scopes: [a/.default]}", []),
  ]

  @Test(arguments: tokens)
  func `a token that could not be had is refused`(fragment: String, expected: [String]) {
    let broken =
      "applications.broken.authority: 'ftp://id.example' begins neither with https:// nor with http://: write the "
      + "whole URL"
    let text = Self.beginning + "  - {name: a, path: /, upstream: 'https://a.example', \(fragment)}"
    #expect(messages(text) == [broken] + expected)
  }

  @Test func `a route's tenant takes the place of its application's`() throws {
    let text = """
      listeners: [{address: 127.0.0.1:8080}]
      applications:
        shared: {authority: https://login.microsoftonline.us/common, client_id: c, client_secret: s3cret}
      routes:
        - {name: a, path: /a/, upstream: 'https://a.x', application: shared, token: {tenant: T.example, scopes: [s]}}
        - {name: b, path: /b/, upstream: https://a.example, application: shared, token: {scopes: [s]}}

      """
    let routes = try decoded(text).routes
    #expect(routes.map { $0.authority?.description } == ["https://login.microsoftonline.us/t.example", nil])
  }

  static let bound: [(String, [String])] = [
    ("upstream: 'https://a.x'", []),
    (
      "upstream: 'http://127.0.0.1'",
      [
        "routes[0].upstream: the tokens of application 'bound' are bound to its certificate (bound_tokens), which only "
          + "https: can show"
      ]
    ),
    (
      "upstream: 'https://a.x', tls: {certificate_file: cert.pem, key_file: key.pem}",
      [
        "routes[0].tls.certificate_file: application 'bound' has bound_tokens, so the upstream is shown its "
          + "certificate; remove this one"
      ]
    ),
  ]

  @Test(arguments: bound)
  func `bound tokens need an upstream that is shown their certificate`(rest: String, expected: [String]) {
    let found = messages(
      """
      listeners: [{address: 127.0.0.1:8080}]
      applications:
        bound:
          authority: https://id.example
          client_id: c
          credential: {mutual_tls: {certificate_file: cert.pem, key_file: key.pem, bound_tokens: true}}
      routes:
        - {name: a, path: /a/, application: bound, token: {as: application}, \(rest)}

      """)
    #expect(found == expected)
  }

  @Test func `a token does not travel in clear beyond this machine`() {
    let found = messages(
      """
      listeners:
        - address: 127.0.0.1:8080
      applications:
        generic: {authority: https://id.example, client_id: c, client_secret: s3cret}
      routes:
        - {name: far, path: /a/, upstream: http://a.example, application: generic, token: {as: application}}
        - {name: near, path: /b/, upstream: http://127.0.0.1, application: generic, token: {as: application}}
        - {name: meant, path: /c/, upstream: http://a.example, application: generic, token: {as: application},
           allow_plaintext: true}
        - {name: open, path: /d/, upstream: http://a.example, token: none}
      """)
    #expect(
      found == [
        "routes[0].upstream: the token of route 'far' would travel in clear to a.example; use https:, or set "
          + "allow_plaintext: true"
      ])
  }

  @Test func `a secret that cannot be read is one issue, not one more for each route`() {
    let found = messages(
      """
      listeners:
        - address: 127.0.0.1:8080
      applications:
        a: {authority: https://id.example, client_id: c, client_secret_file: gone}
      routes:
        - {name: a, path: /, upstream: https://a.example, application: a, token: {as: application}}
      """)
    #expect(found == ["applications.a.client_secret_file: cannot read dir/gone: No such file or directory"])
  }

  @Test func `two routes may not take the same requests`() {
    let found = messages(
      """
      listeners:
        - address: 127.0.0.1:8080
      routes:
        - {name: a, path: /x/, upstream: https://a.example, token: none, methods: [GET, HEAD]}
        - {name: b, path: /x/, upstream: https://a.example, token: none, methods: [POST]}
        - {name: c, path: /x/, upstream: https://a.example, token: none, host: c.example}
        - {name: d, path: /x/, upstream: https://a.example, token: none, methods: [HEAD]}
        - {name: c, path: /y/, upstream: https://a.example, token: none, host: C.example}
        - {name: e, path: /x/, upstream: https://a.example, token: none, host: C.example}
        - {name: f g, path: /z/, upstream: https://a.example, token: none, methods: [get, CONNECT, 'A B']}
      """)
    #expect(
      found == [
        "routes[3] takes the same requests as route 'a' on line 4; change its path, host or methods",
        "routes[4].name: a route 'c' stands already on line 6; choose another name",
        "routes[5] takes the same requests as route 'c' on line 6; change its path, host or methods",
        "routes[6].name: 'f g' is not a name of at most 64 letters, digits, '-', '_', '.'",
        "routes[6].methods[0]: 'get' is not a method in capital letters; did you mean 'GET'?",
        "routes[6].methods[1]: CONNECT asks for a tunnel; this proxy makes none",
        "routes[6].methods[2]: 'A B' is not a method in capital letters",
      ])
  }
}
