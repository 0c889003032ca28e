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

  struct BrowserRow: Sendable, CustomTestStringConvertible {
    var host = "localhost:8080"
    var fields: String
    var refusal: CallerRefusal?
    var testDescription: String { "\(host) \(fields)" }
  }

  /// The requests of Chromium 156, by the way in which a page makes them: Tests/peers/browser_ways.py has the ways.
  private static let purposeRows = [
    // Speculation rules of any page: it calls this the person's own request.
    BrowserRow(
      fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document|Sec-Purpose: prefetch",
      refusal: .speculative),
    BrowserRow(fields: "Sec-Fetch-Site: none|Sec-Purpose: prefetch;prerender", refusal: .speculative),
    BrowserRow(
      fields: "Sec-Fetch-Site: none|Sec-Purpose: prefetch|Referer: http://localhost:8080/", refusal: .speculative),
    BrowserRow(fields: "Sec-Fetch-Site: same-site|Sec-Purpose: prefetch;prerender", refusal: .speculative),
    BrowserRow(
      fields: "Sec-Fetch-Site: cross-site|Origin: https://app.example|Sec-Purpose: prefetch", refusal: .speculative),
    BrowserRow(fields: "sec-purpose: anything", refusal: .speculative),
    BrowserRow(fields: "Sec-Purpose:", refusal: .speculative),
    BrowserRow(fields: "Purpose: prefetch", refusal: .speculative),
    BrowserRow(fields: "Purpose: Preview", refusal: .speculative),
    BrowserRow(fields: "Sec-Fetch-Site: same-origin|Sec-Purpose: prefetch"),
    BrowserRow(fields: "Sec-Fetch-Site: same-origin|Purpose: prefetch"),
    // A field of a program's own.
    BrowserRow(fields: "Purpose: billing"),
    // A person types an address, opens a bookmark, reloads, restores a window, shows a page's source: Chromium 156 and
    // Firefox 153; Safari, which says nothing of the person; Chromium 79, which says nothing of the destination.
    BrowserRow(
      fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-User: ?1|Sec-Fetch-Dest: document"),
    BrowserRow(fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document"),
    BrowserRow(fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-User: ?1"),
    // The issuer of a certificate and a proxy's script (Chromium and Firefox); a revocation service (Firefox, a POST).
    BrowserRow(fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty", refusal: .unknownPage),
    BrowserRow(
      fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty|Accept: */*|Pragma: no-cache",
      refusal: .unknownPage),
    // The certificate of a signed exchange.
    BrowserRow(
      fields: "Accept: application/cert-chain+cbor|Sec-Fetch-Site: none|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty",
      refusal: .unknownPage),
    // Requests that no browser sends by itself today, and no person either.
    BrowserRow(fields: "Sec-Fetch-Site: none", refusal: .unknownPage),
    BrowserRow(fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate", refusal: .unknownPage),
    BrowserRow(fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: cors|Sec-Fetch-Dest: empty", refusal: .unknownPage),
    BrowserRow(fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: image", refusal: .unknownPage),
    BrowserRow(fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: websocket", refusal: .unknownPage),
    BrowserRow(
      fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: document|Sec-Fetch-User: ?1",
      refusal: .unknownPage),
    BrowserRow(
      fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: iframe|Sec-Fetch-User: ?1",
      refusal: .unknownPage),
    // An extension that may read the listener's host.
    BrowserRow(
      fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: cors|Sec-Fetch-Dest: empty|Origin: chrome-extension://abc",
      refusal: .crossSite),
    BrowserRow(
      fields: "Sec-Fetch-Site: none|Sec-Fetch-Mode: cors|Sec-Fetch-Dest: empty|Origin: https://app.example"),
    // A proxy's script, as Chromium asks for it: without any Fetch metadata. Programs say `Accept`, or no engine.
    BrowserRow(fields: engine, refusal: .unknownPage), BrowserRow(fields: engine + "|Accept: */*"),
    BrowserRow(fields: "User-Agent: Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0; en-US) PowerShell/7.4.1"),
    BrowserRow(fields: "User-Agent: Go-http-client/1.1"), BrowserRow(fields: "User-Agent: AppleWebKit"),
    // A payment method's manifest, which any page may name.
    BrowserRow(
      fields: "Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty", refusal: .unknownPage),
    BrowserRow(
      fields: "Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty|Referer: http://evil.example/",
      refusal: .unknownPage),
    // The listener's own page: a fetch without cors, a beacon, a fetch, an image.
    BrowserRow(
      fields:
        "Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty|Referer: http://localhost:8080/a"),
    BrowserRow(
      fields:
        "Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: empty|Origin: http://localhost:8080"),
    BrowserRow(fields: "Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: cors|Sec-Fetch-Dest: empty"),
    BrowserRow(fields: "Sec-Fetch-Site: same-origin|Sec-Fetch-Mode: no-cors|Sec-Fetch-Dest: image"),
    BrowserRow(fields: "Service-Worker: script|Sec-Fetch-Site: same-origin", refusal: .serviceWorker),
    BrowserRow(fields: "service-worker: script", refusal: .serviceWorker),
  ]

  private static let engine =
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"

  @Test(arguments: purposeRows) func `a browser's speculative fetch, or one without a named page, is refused`(
    row: BrowserRow
  ) throws {
    let check = CallerCheck(
      names: ["localhost"], rules: CallerRules(origins: ["https://app.example"]), isReachedInClear: true)
    try withFields(row) { #expect(check.judge($0, $1) == row.refusal) }
    // Anyone may call, but a worker would be in other routes' way.
    let open = CallerCheck(names: nil, rules: CallerRules(isOpen: true), isReachedInClear: true)
    try withFields(row) { #expect(open.judge($0, $1) == (row.refusal == .serviceWorker ? .serviceWorker : nil)) }
    guard row.refusal == .unknownPage else { return }
    // No server can make a browser bring a secret: an extension or an application that brings it is served.
    var proof = CallerRules()
    proof.header = CallerRules.Header(name: "X-Key", value: Secret("0123456789abcdef"))
    let known = CallerCheck(names: ["localhost"], rules: proof)
    try withFields(row) { #expect(known.judge($0, $1) == .missingSecret) }
    var keyed = row
    keyed.fields += "|X-Key: 0123456789abcdef"
    try withFields(keyed) { #expect(known.judge($0, $1) == nil) }
  }

  private static let chromium = "User-Agent: Mozilla/5.0 (X11; Linux x86_64)|Accept-Language: en"
  private static let own = "proxy.example:8080"

  /// Requests to a name for which browsers send no Fetch metadata.
  private static let unmarkedRows = [
    // An image, a script, a fetch, a link and a form of a page of another site, and of one that keeps its address to
    // itself.
    BrowserRow(host: own, fields: chromium + "|Referer: http://evil.example/", refusal: .crossSite),
    BrowserRow(
      host: own, fields: chromium + "|Upgrade-Insecure-Requests: 1|Referer: http://evil.example/", refusal: .crossSite),
    BrowserRow(host: own, fields: chromium + "|Referer: http://proxy.example/", refusal: .crossSite),
    BrowserRow(host: own, fields: chromium + "|Referer: http://proxy.example:8080.evil.example/", refusal: .crossSite),
    BrowserRow(
      host: own, fields: chromium + "|Referer: http://evil.example/?http://proxy.example:8080/", refusal: .crossSite),
    BrowserRow(host: own, fields: chromium + "|Referer: about:blank", refusal: .crossSite),
    BrowserRow(host: own, fields: chromium, refusal: .unknownPage),
    BrowserRow(host: own, fields: chromium + "|Upgrade-Insecure-Requests: 1", refusal: .unknownPage),
    BrowserRow(host: own, fields: chromium + "|Origin: http://evil.example", refusal: .crossSite),
    BrowserRow(host: own, fields: chromium + "|Origin: null", refusal: .crossSite),
    BrowserRow(host: own, fields: chromium + "|Sec-Purpose: prefetch", refusal: .speculative),
    BrowserRow(host: own, fields: "User-Agent: mozilla/4.0", refusal: .unknownPage),
    // A browser that was told to call itself something else.
    BrowserRow(host: own, fields: "User-Agent: other/1|Accept-Language: en", refusal: .unknownPage),
    BrowserRow(host: own, fields: "Accept-Language:", refusal: .unknownPage),
    BrowserRow(host: own, fields: "Upgrade-Insecure-Requests: 1", refusal: .unknownPage),
    // The listener's own pages.
    BrowserRow(host: own, fields: chromium + "|Referer: http://proxy.example:8080/a/b?c"),
    BrowserRow(host: own, fields: chromium + "|Referer: http://PROXY.example:8080"),
    BrowserRow(host: own, fields: chromium + "|Origin: http://proxy.example:8080"),
    BrowserRow(host: own, fields: chromium + "|Origin: https://app.example"),
    // A server in front has TLS, and passes the browser's fields on.
    BrowserRow(
      host: own, fields: chromium + "|Sec-Fetch-Site: none|Sec-Fetch-Mode: navigate|Sec-Fetch-Dest: document"),
    // Programs: curl, wget, Python, Java, Node's fetch, one that names a page it read.
    BrowserRow(host: own, fields: "User-Agent: curl/8.5.0|Accept: */*"), BrowserRow(host: own, fields: "Accept: */*"),
    BrowserRow(host: own, fields: "User-Agent: Wget/1.21|Accept-Encoding: identity"),
    BrowserRow(host: own, fields: "User-Agent: python-requests/2.31|Accept-Encoding: gzip, deflate"),
    BrowserRow(host: own, fields: "User-Agent: Java/17.0.1"),
    BrowserRow(host: own, fields: "User-Agent: node|Accept-Language: *|Sec-Fetch-Mode: cors"),
    BrowserRow(host: own, fields: "User-Agent: curl/8.5.0|Referer: http://evil.example/"),
    // Names to which browsers send Fetch metadata: a caller without them is a program, whatever it calls itself.
    BrowserRow(host: "localhost:8080", fields: chromium), BrowserRow(host: "127.0.0.1:8080", fields: chromium),
    BrowserRow(host: "[::1]:8080", fields: chromium), BrowserRow(host: "api.localhost", fields: chromium),
    BrowserRow(host: "127.evil.example", fields: chromium, refusal: .unknownPage),
    BrowserRow(host: "notlocalhost", fields: chromium, refusal: .unknownPage),
  ]

  @Test(arguments: unmarkedRows) func `without Fetch metadata, Origin and Referer tell pages apart`(
    row: BrowserRow
  ) throws {
    let names = [
      "proxy.example", "localhost", "127.0.0.1", "::1", "api.localhost", "127.evil.example", "notlocalhost",
    ]
    let rules = CallerRules(origins: ["https://app.example"])
    for check in [names, nil].map({ CallerCheck(names: $0, rules: rules, isReachedInClear: true) }) {
      try withFields(row) { #expect(check.judge($0, $1) == row.refusal) }
    }
    let open = CallerCheck(names: names, rules: CallerRules(isOpen: true), isReachedInClear: true)
    try withFields(row) { #expect(open.judge($0, $1) == nil) }
    // Over TLS a browser says more, so that one that does not is none; a page cannot bring a secret.
    if row.refusal == .unknownPage {
      let secure = CallerCheck(names: names, rules: rules)
      try withFields(row) { #expect(secure.judge($0, $1) == nil) }
      var proof = rules
      proof.header = CallerRules.Header(name: "X-Key", value: Secret("0123456789abcdef"))
      let known = CallerCheck(names: names, rules: proof, isReachedInClear: true)
      var keyed = row
      keyed.fields += "|X-Key: 0123456789abcdef"
      try withFields(keyed) { #expect(known.judge($0, $1) == nil) }
    }
  }

  private func withFields(_ row: BrowserRow, _ body: (borrowing RequestHead, Span<UInt8>) -> Void) throws {
    let lines = row.fields.split(separator: "|").map { $0 + "\r\n" }.joined()
    try withRequest("GET / HTTP/1.1\r\nHost: \(row.host)\r\n\(lines)\r\n") { head, input in body(head, input.bytes) }
  }
}
