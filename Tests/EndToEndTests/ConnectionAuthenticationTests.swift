// Upstreams that authenticate connections (NTLM, Negotiate): what one caller has authenticated serves no other. curl is
// the caller that really computes NTLM's messages.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(2)))
struct ConnectionAuthenticationTests {
  private let upstream: PythonPeer

  init() async throws {
    upstream = try await PythonPeer("connection_upstream.py")
  }

  /// A proxy with one loop, hence one pool: a connection that comes back to it is the next one's.
  private func proxy(_ provider: OpenIDProvider? = nil) async throws -> ProxyUnderTest {
    let kept = """
        - name: kept
          path: /kept/
          upstream: "http://127.0.0.1:\(upstream.port)/"
          application: contoso
          token: {as: application, scopes: [orders.read], existing: keep}

      """
    return try await ProxyUnderTest(
      "loops: 1\n" + (provider.map { application($0.issuer) } ?? "") + "routes:\n"
        + "  - {name: open, path: /, upstream: \"http://127.0.0.1:\(upstream.port)/\", token: none}\n"
        + (provider == nil ? "" : kept))
  }

  private func request(_ path: String, _ fields: String...) -> String {
    "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields.map { $0 + "\r\n" }.joined())\r\n"
  }

  private func answer(_ connection: RawConnection, _ request: String) async throws -> String {
    try await connection.send(request)
    return try await connection.receive { text in
      guard let head = text.firstRange(of: "\r\n\r\n") else { return false }
      return text[head.upperBound...].contains("\n")
    }
  }

  @Test(arguments: ["/ntlm/", "/negotiate/", "/quiet/"])
  func `a connection that one caller authenticated serves no other caller`(path: String) async throws {
    let proxy = try await proxy()
    // An idle connection without an owner, which must not become an authenticated one.
    #expect(try await proxy.get("/open/first").body == "-\n")
    let ann = try proxy.connect()
    // "ann" in base64, as the one message of a scheme, or the last one of several.
    let scheme = path == "/negotiate/" ? "Negotiate" : "NTLM"
    let credential = "Authorization: \(scheme) YW5u"
    #expect(try await answer(ann, request(path)).contains("401"))
    #expect(try await answer(ann, request(path, credential)).hasSuffix("\r\n\r\nann\n"))
    // Others, before and after the caller's own next request, on routes that want nothing as well.
    for _ in 0..<2 {
      #expect(try await proxy.get("/open/other").body == "-\n")
      #expect(try await proxy.get(path + "other").status == 401)
      #expect(try await answer(ann, request(path)).hasSuffix("\r\n\r\nann\n"))
    }
    #expect(try await answer(ann, request("/open/own")).hasSuffix("\r\n\r\nann\n"))
    // A caller that comes when this one has gone is another one.
    ann.finishSending()
    #expect(try await ann.isClosedByPeer())
    for _ in 0..<3 { #expect(try await proxy.get("/open/later").body == "-\n") }
    let strangers = upstream.requests.filter { $0.contains("other") || $0.contains("later") }
    #expect(strangers.count == 7 && strangers.allSatisfy { $0.contains(" - ") }, "\(upstream.requests)")
  }

  @Test func `a credential that goes out first binds its connection, whatever the answer says`() async throws {
    let proxy = try await proxy()
    for scheme in ["NTLM", "negotiate", "Kerberos", "Nego2", "CredSSP"] {
      let ann = try proxy.connect()
      #expect(
        try await answer(ann, request("/ntlm/first", "Authorization: \(scheme) YW5u")).hasSuffix("\r\n\r\nann\n"))
      #expect(try await proxy.get("/open/other").body == "-\n")
    }
    // An unknown scheme, and an answer that says what became of the connection.
    let bob = try proxy.connect()
    #expect(try await answer(bob, request("/quiet/first", "Authorization: Secret Ym9i")).hasSuffix("\r\n\r\nbob\n"))
    #expect(try await proxy.get("/open/other").body == "-\n")
    #expect(upstream.requests.filter { $0.contains("other") }.allSatisfy { $0.contains(" - ") })
  }

  @Test func `a route that keeps what callers send does not lend what they have authenticated`() async throws {
    let provider = try await OpenIDProvider()
    let proxy = try await proxy(provider)
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    let ann = try proxy.connect()
    #expect(
      try await answer(ann, request("/kept/ntlm/first", "Authorization: NTLM YW5u")).hasSuffix("\r\n\r\nann\n"))
    // With the route's token, and on the other route to the same upstream.
    for path in ["/kept/open/other", "/open/other"] { #expect(try await proxy.get(path).body == "-\n") }
    // The caller's own requests without a credential go out with the route's token, and not in the caller's name.
    #expect(try await answer(ann, request("/kept/open/other")).hasSuffix("\r\n\r\n-\n"))
    #expect(
      try await answer(ann, request("/kept/open/own", "Authorization: NTLM YW5u")).hasSuffix("\r\n\r\nann\n"))
    #expect(upstream.requests.filter { $0.contains("other") }.allSatisfy { $0.contains(" - ") })
  }

  @Test func `curl signs in by NTLM through the proxy, and is told that it may`() async throws {
    let proxy = try await proxy()
    let challenge = try await proxy.get("/ntlm/")
    #expect(challenge.status == 401)
    #expect(challenge.fields.filter { $0.name == "proxy-support" }.map(\.value) == ["Session-Based-Authentication"])
    let signedIn = try await proxy.get("/ntlm/a", ["--ntlm", "-u", "carol:not-checked"])
    #expect(signedIn.status == 200 && signedIn.body == "carol\n")
    #expect(signedIn["proxy-support"] == nil)
    // Two requests on one connection of curl's: authenticated once.
    let both = try await curl(
      ["--ntlm", "-u", "carol:not-checked", proxy.url("/ntlm/b"), "-o", "/dev/null", proxy.url("/ntlm/c")])
    #expect(both.status == 200)
    #expect(upstream.requests.filter { $0.contains(" carol ") }.count >= 1)
    #expect(try await proxy.get("/open/other").body == "-\n")
  }

  @Test func `connections without authentication are still shared`() async throws {
    let proxy = try await proxy()
    for _ in 0..<4 {
      #expect(try await proxy.get("/open/a", ["-H", "Authorization: Basic YTpi"]).status == 200)
      #expect(try await proxy.get("/open/b", ["-H", "Authorization: Bearer x"]).status == 200)
    }
    #expect(upstream.requests.count == 8 && upstream.requests.allSatisfy { $0.hasPrefix("1 - ") })
  }
}
