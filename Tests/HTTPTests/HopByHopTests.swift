import HTTP
import Testing

/// The names of a request's fields that may be forwarded.
private func forwarded(_ fields: String) -> [String] {
  withRequest("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n") { head, bytes in
    var names: [String] = []
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      if HopByHop.forwards(line, head.connection, in: bytes) { names.append(text(line.name, bytes)) }
    }
    return names
  }
}

@Suite struct HopByHopTests {
  static let rows: [(fields: String, forwarded: [String])] = [
    ("Accept: a\r\nX-A: b\r\n", ["Host", "Accept", "X-A"]),
    ("Connection: keep-alive\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n", ["Host"]),
    ("TE: trailers\r\nTransfer-Encoding: chunked\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n", ["Host"]),
    ("Proxy-Authorization: a\r\nProxy-Authenticate: b\r\nProxy-Authentication-Info: c\r\n", ["Host"]),
    ("Connection: x-a, X-B\r\nX-A: 1\r\nx-b: 2\r\nX-C: 3\r\n", ["Host", "X-C"]),
    ("X-A: 1\r\nConnection: close\r\nConnection: ,x-a ,\r\nX-AB: 2\r\n", ["Host", "X-AB"]),
    // Nominating fields that an upstream relies on has no effect.
    (
      "Connection: host, authorization, content-type, x-forwarded-for, cookie\r\nAuthorization: a\r\nCookie: b\r\n",
      ["Host", "Authorization", "Cookie"]
    ),
    ("Transfer_Encoding: chunked\r\nX_Forwarded_For: 1\r\nX_Own: 2\r\n", ["Host", "X_Own"]),
    ("Trailer: X-Sum\r\nVia: 1.1 a\r\n", ["Host", "Trailer", "Via"]),
  ]

  @Test(arguments: rows)
  func `fields that speak about one connection end here`(fields: String, expected: [String]) {
    #expect(forwarded(fields) == expected)
  }

  @Test(
    arguments: [
      ("", false), ("TE: trailers\r\n", true), ("TE: gzip;q=0.5, Trailers\r\n", true), ("TE: gzip\r\n", false),
      ("TE: gzip\r\nTE: trailers\r\n", true), ("TE: trailers;q=1\r\n", false), ("TE:\r\n", false),
    ])
  func `TE: trailers accepts trailer fields`(fields: String, expected: Bool) {
    let accepts = withRequest("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n") {
      HopByHop.acceptsTrailers($0.fields, in: $1)
    }
    #expect(accepts == expected)
  }
}
