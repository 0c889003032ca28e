// The message for each mistake in a route.

import TestSupport
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
      bound:
        authority: https://id.example
        client_id: c
        credential: {mutual_tls: {certificate_file: cert.pem, key_file: key.pem, bound_tokens: true}}
    routes:

    """
  static let agent = "agent: 0a1b2c3d-0000-4000-8000-00000000000a"

  static let routes = issueTable(
    """
    path: orders/
      path: 'orders/' does not begin and end with '/'
    path: /orders
      path: '/orders' does not begin and end with '/'
    path: /a//b/
      path: '/a//b/' has an empty segment, '.' or '..'; requests are matched after those are resolved
    path: /a/../b/
      path: '/a/../b/' has an empty segment, '.' or '..'; requests are matched after those are resolved
    path: /a/..;x/b/
      path: '/a/..;x/b/' has an empty segment, '.' or '..'; requests are matched after those are resolved
    path: /a%20b/
      path: '/a%20b/' has a character that a path contains only percent-encoded, or '%'
    path: /a?b/
      path: '/a?b/' has a character that a path contains only percent-encoded, or '%'
    path: /.bearer/
      path: '/.bearer/' belongs to the proxy's own pages under /.bearer/
    path: /.bearer/x/
      path: '/.bearer/x/' belongs to the proxy's own pages under /.bearer/
    path: //
      path: '//' has an empty segment, '.' or '..'; requests are matched after those are resolved
    encoded_path: [backslash, tabs]
      encoded_path[1] is one of backslash, percent, tab, line_feed, carriage_return, not 'tabs'; did you mean 'tab'?
    protocol: http2, upgrade: [websocket]
      no issue
    protocol: auto, upgrade: [websocket]
      no issue
    protocol: http11
      protocol is one of auto, http1, http2, not 'http11'; did you mean 'http1'?
    upstream: 'https://'
      upstream: 'https://' has no host that could be looked up
    upstream: 'https://a:0/'
      upstream: 'https://a:0/' has a port that is not a number from 1 to 65535
    upstream: 'https://a/b#c'
      upstream: 'https://a/b#c' has a fragment, a blank or a non-ASCII character
    upstream: 'https://a/b?c=d'
      upstream: 'https://a/b?c=d' has a query; the caller's query is passed on instead
    upstream: 'https://a.example/b/../c'
      upstream: 'https://a.example/b/../c' has '.', '..' or a needless percent-encoding in its path
    upstream: 'https://a.example/%62'
      upstream: 'https://a.example/%62' has '.', '..' or a needless percent-encoding in its path
    upstream: 'http://2852039166/'
      upstream: 'http://2852039166/' has a number as its host: write an address as four decimal numbers, or the host's
        name
    upstream: 'http://0xa9.254.43518/'
      upstream: 'http://0xa9.254.43518/' has a number as its host: write an address as four decimal numbers, or the
        host's name
    # Bound tokens need an upstream that is shown their certificate.
    application: bound, token: {as: application}
      no issue
    upstream: 'http://127.0.0.1', application: bound, token: {as: application}
      upstream: the tokens of application 'bound' are bound to its certificate (bound_tokens), which only https: can
        show
    application: bound, token: {as: application}, tls: {certificate_file: cert.pem, key_file: key.pem}
      tls.certificate_file: application 'bound' has bound_tokens, so the upstream is shown its certificate; remove this
        one
    """)

  @Test(arguments: routes)
  func `a route that could not serve is refused with the key`(fragment: String, expected: [String]) {
    let token = fragment.contains("token:") ? "" : ", token: none"
    #expect(Self.issues(fragment + token) == expected.map { "routes[0]." + $0 })
  }

  /// The issues of a route of these members, apart from the application that is broken in every file here.
  static func issues(_ fragment: String) -> [String] {
    let usual = ["path: /", "upstream: 'https://a.example'"]
    let members = usual.filter { !", \(fragment)".contains(", \($0.prefix { $0 != " " })") }
    let found = messages(beginning + "  - {\((["name: a"] + members + [fragment]).joined(separator: ", "))}")
    let broken =
      "applications.broken.authority: 'ftp://id.example' begins neither with https:// nor with http://: write the "
      + "whole URL"
    #expect(found.first == broken)
    return Array(found.dropFirst())
  }

  static let metadataServices = [
    "169.254.169.254", "169.254.1.1", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "[fd00:ec2::23]", "[fd20:ce::254]",
    "[fd00:c1::a9fe:a9fe]", "[fd00:42::42]", "[64:ff9b::a9fe:a9fe]", "100.100.100.200", "168.63.129.16", "[fe80::1]",
    "METADATA.google.internal.",
  ]

  @Test(arguments: metadataServices)
  func `an upstream that must not be contacted is refused`(host: String) {
    let name = host.lowercased().filter { !"[]".contains($0) }
    #expect(
      Self.issues("upstream: 'http://\(host)/', token: none") == [
        "routes[0].upstream: \(name) hands out this machine's cloud credentials and is never an upstream"
      ])
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
    #expect(
      routes.map { $0.token.issued?.authority?.description } == ["https://login.microsoftonline.us/t.example", nil])
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
        "routes[4].name: a route 'c' is already on line 6; choose another name",
        "routes[5] takes the same requests as route 'c' on line 6; change its path, host or methods",
        "routes[6].name: 'f g' is not a name of at most 64 letters, digits, '-', '_', '.'",
        "routes[6].methods[0]: 'get' is not a method in capital letters; did you mean 'GET'?",
        "routes[6].methods[1]: CONNECT asks for a tunnel; this proxy makes none",
        "routes[6].methods[2]: 'A B' is not a method in capital letters",
      ])
  }
}
