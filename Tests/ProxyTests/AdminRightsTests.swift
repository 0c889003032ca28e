// The rights of a caller of the admin listener, by its connection and fields.

import Bytes
import Platform
import Routing
import Testing

@testable import Proxy

@Suite struct AdminRightsTests {
  @Test(arguments: [
    (AdminCaller(), false, AdminRight.none), (AdminCaller(), true, .probes),
    (AdminCaller(isLocal: true), false, .status), (AdminCaller(isLocal: true), true, .status),
    (AdminCaller(keepsRules: true), false, .control), (AdminCaller(keepsRules: true, isLocal: true), true, .control),
    (AdminCaller(isOwner: true, isLocal: true), false, .tokens),
  ])
  func `a caller may do what it has shown a right to`(caller: AdminCaller, isOpen: Bool, right: AdminRight) {
    #expect(caller.right(isOpen: isOpen) == right)
  }

  @Test func `probes, status and control are three things, and what is unknown counts as control`() {
    for path in ["/healthz", "/readyz", "/metrics"] { #expect(AdminRight(toReach: path) == .probes) }
    #expect(AdminRight(toReach: "/status") == .status)
    #expect(AdminRight(toReach: "/token") == .tokens)
    for path in ["/config", "/log", "/quitquitquit", "/", "/nothing", "/metrics/", "/quitquitquit/"] {
      #expect(AdminRight(toReach: path) == .control)
    }
  }

  private static let here = "127.0.0.1"
  private static let elsewhere = "192.0.2.7"

  /// A caller at `peer` asks for the listener by `host`.
  private func caller(
    _ callers: AdminCallers, at peer: String, host: String, fields: String = "", user: UInt32? = nil
  ) throws -> Result<AdminCaller, CallerRefusal> {
    let address =
      user == nil ? try #require(SocketAddress(literal: peer, port: 40000)) : SocketAddress(.unix(path: ""))
    let credentials = user.map { PeerCredentials(user: $0, group: $0) }
    let request = try RequestContext("GET /config HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n")
    return callers.judge(request.head, request.headBytes.bytes, at: address, credentials, user: 500)
  }

  @Test func `a name that leads here from another site is not one of this machine`() throws {
    let open = AdminCallers(
      hosts: nil, localHosts: ["localhost", "127.0.0.1", "::1"], rules: CallerRules(isOpen: true), tokenCheck: nil)
    #expect(try caller(open, at: Self.here, host: "127.0.0.1:9901").get().isLocal)
    #expect(try caller(open, at: Self.here, host: "localhost:9901").get().isLocal)
    #expect(try !caller(open, at: Self.here, host: "evil.example:9901").get().isLocal)
    #expect(try !caller(open, at: Self.elsewhere, host: "localhost:9901").get().isLocal)
    let closed = AdminCallers(hosts: ["127.0.0.1"], localHosts: ["127.0.0.1"], rules: CallerRules(), tokenCheck: nil)
    #expect(throws: CallerRefusal.unknownHost) { try caller(closed, at: Self.here, host: "evil.example").get() }
    #expect(throws: CallerRefusal.crossSite) {
      try caller(closed, at: Self.here, host: "127.0.0.1", fields: "Sec-Fetch-Site: cross-site\r\n").get()
    }
  }

  @Test func `without rules no caller keeps them, and with rules each must be kept`() throws {
    var rules = CallerRules()
    let none = AdminCallers(hosts: nil, localHosts: [], rules: rules, tokenCheck: nil)
    #expect(try !caller(none, at: Self.here, host: "x").get().keepsRules)
    rules.header = CallerRules.Header(name: "X-Admin-Key", value: Secret("a secret of sixteen"))
    let one = AdminCallers(hosts: nil, localHosts: [], rules: rules, tokenCheck: nil)
    let field = "X-Admin-Key: a secret of sixteen\r\n"
    #expect(try caller(one, at: Self.elsewhere, host: "x", fields: field).get().keepsRules)
    for wrong in ["", "X-Admin-Key: a secret of sixteem\r\n", field + field] {
      #expect(try !caller(one, at: Self.here, host: "x", fields: wrong).get().keepsRules)
    }
    rules.peers = CallerRules.Peers(users: [1000], groups: [])
    let both = AdminCallers(hosts: nil, localHosts: [], rules: rules, tokenCheck: nil)
    #expect(try caller(both, at: "", host: "x", fields: field, user: 1000).get().keepsRules)
    #expect(try !caller(both, at: "", host: "x", fields: field, user: 1001).get().keepsRules)
    #expect(try !caller(both, at: "", host: "x", user: 1000).get().keepsRules)
  }

  @Test(arguments: [(500 as UInt32, true), (0, true), (501, false)])
  func `at a unix socket the proxy's own user and root control it and get tokens`(user: UInt32, isOwner: Bool) throws {
    let callers = AdminCallers(hosts: nil, localHosts: [], rules: CallerRules(), tokenCheck: nil)
    let shown = try caller(callers, at: "", host: "localhost", user: user).get()
    #expect(shown.isOwner == isOwner && shown.isLocal)
    #expect(shown.right(isOpen: false) == (isOwner ? .tokens : .status))
  }
}
