// Callers that are let in by their request: DNS rebinding and other sites' pages are not.

import Bytes
import HTTP
import Testing
import Tokens

@testable import Routing

@Suite struct CallerCheckTests {
  private static let check = CallerCheck(names: ["127.0.0.1", "localhost", "::1"])

  @Test(arguments: [
    ("127.0.0.1", true), ("127.0.0.1:8080", true), ("localhost", true), ("LOCALHOST:1", true), ("[::1]:8080", true),
    ("evil.example", false), ("127.0.0.1.evil.example", false), ("localhost.", false), ("127.0.0.2", false),
    ("evil.example:127", false), ("[::2]", false),
  ])
  func `the host must be one of the listener's names`(host: String, isAllowed: Bool) throws {
    try withRequest("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") { head, input in
      #expect(Self.check.judge(head, input.bytes) == (isAllowed ? nil : .unknownHost))
    }
  }

  @Test(arguments: [
    ("localhost", "http://localhost:80", true), ("localhost:80", "http://localhost", true),
    ("localhost:443", "https://localhost", true), ("localhost:80", "https://localhost", false),
    ("localhost:443", "http://localhost", false),
  ])
  func `a port that is the scheme's own may be named or not`(host: String, origin: String, isAllowed: Bool) throws {
    try withRequest("GET / HTTP/1.1\r\nHost: \(host)\r\nOrigin: \(origin)\r\n\r\n") { head, input in
      #expect(Self.check.judge(head, input.bytes) == (isAllowed ? nil : .crossSite))
    }
  }

  @Test func `the host in an absolute target counts, and a request without a host is no browser's`() throws {
    let absolute = "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    try withRequest(absolute) { head, input in
      #expect(Self.check.judge(head, input.bytes) == .unknownHost)
    }
    try withRequest("GET / HTTP/1.0\r\n\r\n") { head, input in
      #expect(Self.check.judge(head, input.bytes) == nil)
      #expect(CallerCheck(names: nil).judge(head, input.bytes) == nil)
    }
  }

  @Test(arguments: [
    ("", true),
    ("Sec-Fetch-Site: same-origin", true),
    ("Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document", true),
    ("sec-fetch-site: NONE\r\nsec-fetch-mode: NAVIGATE\r\nsec-fetch-user: ?1", true),
    ("Sec-Fetch-Site: same-site", false), ("Sec-Fetch-Site: cross-site", false), ("Sec-Fetch-Site:", false),
    ("Sec-Fetch-Site: unheard-of", false),
    ("Origin: http://localhost:8080", true), ("Origin: https://localhost:8080", true),
    ("Origin: http://localhost", false), ("Origin: http://localhost:80", false),
    ("Origin: http://localhost", false), ("Origin: http://evil.example", false), ("Origin: null", false),
    ("Origin: localhost:8080", false), ("Origin:", false), ("Origin: http://localhost:8080.evil.example", false),
    // The browser's field about the site counts before the origin.
    ("Sec-Fetch-Site: cross-site\r\nOrigin: http://localhost:8080", false),
  ])
  func `a request that another site is behind is turned away`(fields: String, isAllowed: Bool) throws {
    let lines = fields.isEmpty ? "" : fields + "\r\n"
    try withRequest("POST / HTTP/1.1\r\nHost: localhost:8080\r\n\(lines)\r\n") { head, input in
      #expect(Self.check.judge(head, input.bytes) == (isAllowed ? nil : .crossSite))
      let open = CallerCheck(names: nil, rules: CallerRules(isOpen: true))
      #expect(open.judge(head, input.bytes) == nil)
    }
  }

  /// The requests of Chromium 156, by the way in which a page makes them: Tests/peers/browser_ways.py has the ways.
  static let purposeRows: [(String, CallerRefusal?)] = [
    // Speculation rules of any page: it calls this the person's own request.
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document|Sec-Purpose: prefetch", .speculative),
    ("Sec-Fetch-Site: none|Sec-Purpose: prefetch;prerender", .speculative),
    ("Sec-Fetch-Site: none|Sec-Purpose: prefetch|Referer: http://localhost:8080/", .speculative),
    ("Sec-Fetch-Site: same-site|Sec-Purpose: prefetch;prerender", .speculative),
    ("Sec-Fetch-Site: cross-site|Origin: https://app.example|Sec-Purpose: prefetch", .speculative),
    ("sec-purpose: anything", .speculative),
    ("Sec-Purpose:", .speculative),
    ("Purpose: prefetch", .speculative),
    ("Purpose: Preview", .speculative),
    ("Sec-Fetch-Site: same-origin|Sec-Purpose: prefetch", nil),
    ("Sec-Fetch-Site: same-origin|Purpose: prefetch", nil),
    // A field of a program's own.
    ("Purpose: billing", nil),
    // A person types an address, opens a bookmark, reloads, restores a window, shows a page's source: Chromium 156 and
    // Firefox 153; Safari, which says nothing of the person; Chromium 79, which says nothing of the destination.
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-User: ?1|Sec-Fetch-Dest: document", nil),
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", nil),
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-User: ?1", nil),
    // The issuer of a certificate and a proxy's script (Chromium and Firefox); a revocation service (Firefox, a POST).
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty", .unknownPage),
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty|Accept: */*|Pragma: no-cache", .unknownPage),
    // The certificate of a signed exchange.
    (
      "Accept: application/cert-chain+cbor|Sec-Fetch-Site: none|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty",
      .unknownPage
    ),
    // Requests that no browser sends by itself today, and no person either.
    ("Sec-Fetch-Site: none", .unknownPage),
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate", .unknownPage),
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: cors|Sec-Fetch-Dest: empty", .unknownPage),
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: image", .unknownPage),
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: websocket", .unknownPage),
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: document|Sec-Fetch-User: ?1", .unknownPage),
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe|Sec-Fetch-User: ?1", .unknownPage),
    // An extension that may read the listener's host.
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: cors|Sec-Fetch-Dest: empty|Origin: chrome-extension://abc", .crossSite),
    ("Sec-Fetch-Site: none|Sec-Fetch-Mode: cors|Sec-Fetch-Dest: empty|Origin: https://app.example", nil),
    // A proxy's script, as Chromium asks for it: without any Fetch metadata. Programs say `Accept`, or no engine.
    (engine, .unknownPage),
    (engine + "|Accept: */*", nil),
    ("User-Agent: Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0; en-US) PowerShell/7.4.1", nil),
    ("User-Agent: Go-http-client/1.1", nil),
    ("User-Agent: AppleWebKit", nil),
    // A payment method's manifest, which any page may name.
    ("Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty", .unknownPage),
    (
      "Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty|Referer: http://evil.example/",
      .unknownPage
    ),
    // The listener's own page: a fetch without cors, a beacon, a fetch, an image.
    ("Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty|Referer: http://localhost:8080/a", nil),
    ("Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty|Origin: http://localhost:8080", nil),
    ("Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: cors|Sec-Fetch-Dest: empty", nil),
    ("Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: image", nil),
    ("Service-Worker: script|Sec-Fetch-Site: same-origin", .serviceWorker),
    ("service-worker: script", .serviceWorker),
  ]

  private static let engine =
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"

  @Test(arguments: purposeRows) func `a browser's speculative fetch, or one without a named page, is refused`(
    fields: String, refusal: CallerRefusal?
  ) throws {
    let check = CallerCheck(
      names: ["localhost"], rules: CallerRules(origins: ["https://app.example"]), isReachedInClear: true)
    try withFields(fields) { #expect(check.judge($0, $1) == refusal) }
    // Anyone may call, but a worker would be in other routes' way.
    let open = CallerCheck(names: nil, rules: CallerRules(isOpen: true), isReachedInClear: true)
    try withFields(fields) { #expect(open.judge($0, $1) == (refusal == .serviceWorker ? .serviceWorker : nil)) }
    guard refusal == .unknownPage else { return }
    // No server can make a browser bring a secret: an extension or an application that brings it is served.
    var proof = CallerRules()
    proof.header = CallerRules.Header(name: "X-Key", value: Secret("0123456789abcdef"))
    let known = CallerCheck(names: ["localhost"], rules: proof)
    try withFields(fields) { #expect(known.judge($0, $1) == .missingSecret) }
    try withFields(fields + "|X-Key: 0123456789abcdef") { #expect(known.judge($0, $1) == nil) }
  }

  private static let chromium = "User-Agent: Mozilla/5.0 (X11; Linux x86_64)|Accept-Language: en"
  private static let own = "proxy.example:8080"

  /// Requests to a name for which browsers send no Fetch metadata.
  static let unmarkedRows: [(String, String, CallerRefusal?)] = [
    // An image, a script, a fetch, a link and a form of a page of another site, and of one that keeps its address to
    // itself.
    (own, chromium + "|Referer: http://evil.example/", .crossSite),
    (own, chromium + "|Upgrade-Insecure-Requests: 1|Referer: http://evil.example/", .crossSite),
    (own, chromium + "|Referer: http://proxy.example/", .crossSite),
    (own, chromium + "|Referer: http://proxy.example:8080.evil.example/", .crossSite),
    (own, chromium + "|Referer: http://evil.example/?http://proxy.example:8080/", .crossSite),
    (own, chromium + "|Referer: about:blank", .crossSite),
    (own, chromium, .unknownPage),
    (own, chromium + "|Upgrade-Insecure-Requests: 1", .unknownPage),
    (own, chromium + "|Origin: http://evil.example", .crossSite),
    (own, chromium + "|Origin: null", .crossSite),
    (own, chromium + "|Sec-Purpose: prefetch", .speculative),
    (own, "User-Agent: mozilla/4.0", .unknownPage),
    // A browser that was told to call itself something else.
    (own, "User-Agent: other/1|Accept-Language: en", .unknownPage),
    (own, "Accept-Language:", .unknownPage),
    (own, "Upgrade-Insecure-Requests: 1", .unknownPage),
    // The listener's own pages.
    (own, chromium + "|Referer: http://proxy.example:8080/a/b?c", nil),
    (own, chromium + "|Referer: http://PROXY.example:8080", nil),
    (own, chromium + "|Origin: http://proxy.example:8080", nil),
    (own, chromium + "|Origin: https://app.example", nil),
    // A server in front has TLS, and passes the browser's fields on.
    (own, chromium + "|Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document", nil),
    // Programs: curl, wget, Python, Java, Node's fetch, one that names a page it read.
    (own, "User-Agent: curl/8.5.0|Accept: */*", nil),
    (own, "Accept: */*", nil),
    (own, "User-Agent: Wget/1.21|Accept-Encoding: identity", nil),
    (own, "User-Agent: python-requests/2.31|Accept-Encoding: gzip, deflate", nil),
    (own, "User-Agent: Java/17.0.1", nil),
    (own, "User-Agent: node|Accept-Language: *|Sec-Fetch-Mode: cors", nil),
    (own, "User-Agent: curl/8.5.0|Referer: http://evil.example/", nil),
    // Names to which browsers send Fetch metadata: a caller without them is a program, whatever it calls itself.
    ("localhost:8080", chromium, nil),
    ("127.0.0.1:8080", chromium, nil),
    ("[::1]:8080", chromium, nil),
    ("api.localhost", chromium, nil),
    ("127.evil.example", chromium, .unknownPage),
    ("notlocalhost", chromium, .unknownPage),
  ]

  @Test(arguments: unmarkedRows) func `without Fetch metadata, Origin and Referer tell pages apart`(
    host: String, fields: String, refusal: CallerRefusal?
  ) throws {
    let names = ["proxy.example", "localhost", "127.0.0.1", "::1", "api.localhost", "127.evil.example", "notlocalhost"]
    let rules = CallerRules(origins: ["https://app.example"])
    for check in [names, nil].map({ CallerCheck(names: $0, rules: rules, isReachedInClear: true) }) {
      try withFields(fields, host) { #expect(check.judge($0, $1) == refusal) }
    }
    let open = CallerCheck(names: names, rules: CallerRules(isOpen: true), isReachedInClear: true)
    try withFields(fields, host) { #expect(open.judge($0, $1) == nil) }
    // Over TLS a browser says more, so that one that does not is none; a page cannot bring a secret.
    if refusal == .unknownPage {
      let secure = CallerCheck(names: names, rules: rules)
      try withFields(fields, host) { #expect(secure.judge($0, $1) == nil) }
      var proof = rules
      proof.header = CallerRules.Header(name: "X-Key", value: Secret("0123456789abcdef"))
      let known = CallerCheck(names: names, rules: proof, isReachedInClear: true)
      try withFields(fields + "|X-Key: 0123456789abcdef", host) { #expect(known.judge($0, $1) == nil) }
    }
  }

  private func withFields(
    _ fields: String, _ host: String = "localhost:8080", _ body: (borrowing RequestHead, Span<UInt8>) -> Void
  ) throws {
    let lines = fields.split(separator: "|").map { $0 + "\r\n" }.joined()
    try withRequest("GET / HTTP/1.1\r\nHost: \(host)\r\n\(lines)\r\n") { head, input in body(head, input.bytes) }
  }
}
