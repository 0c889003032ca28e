// Detects authentication of the connection instead of the request. HTTP has no such thing (RFC 9110 §11.1), but NTLM
// and Negotiate do it (RFC 4559 §6): every later request on the connection then counts as authenticated.

package enum ConnectionAuthentication {
  /// The schemes: NTLM, SPNEGO with its older and newer names, and WinRM's.
  private static let schemes: [StaticString] = ["negotiate", "ntlm", "kerberos", "nego2", "credssp"]

  /// The field of a proxy that keeps such connections apart (RFC 4559 §6).
  package static let support: (name: StaticString, value: StaticString) = (
    "Proxy-Support", "Session-Based-Authentication"
  )

  /// True if a request's `Authorization` begins, or continues, such an authentication.
  package static func isUsed(by fields: borrowing FieldTable, in bytes: Span<UInt8>) -> Bool {
    mentionsScheme(.authorization, fields, in: bytes)
  }

  /// True if a response offers or completes such an authentication, or marks its connection as authenticated:
  /// `WWW-Authenticate`, IIS's `Persistent-Auth`, or another proxy's `Proxy-Support`.
  package static func isAnswered(by fields: borrowing FieldTable, in bytes: Span<UInt8>) -> Bool {
    if mentionsScheme(.wwwAuthenticate, fields, in: bytes) { return true }
    if let line = fields.first(named: persistentAuth, in: bytes) {
      return !bytes.extracting(line.value).equalsIgnoringCase("false")
    }
    return isSupported(by: fields, in: bytes)
  }

  /// True if a proxy on the way keeps such connections apart, by the response.
  package static func isSupported(by fields: borrowing FieldTable, in bytes: Span<UInt8>) -> Bool {
    guard let line = fields.first(named: proxySupport, in: bytes) else { return false }
    return bytes.extracting(line.value).equalsIgnoringCase("session-based-authentication")
  }

  private static let persistentAuth = Array("persistent-auth".utf8)
  private static let proxySupport = Array("proxy-support".utf8)

  // A scheme's name anywhere as a word, in whatever grammar: a false match costs a connection, a missed one lends it to
  // another caller.
  private static func mentionsScheme(_ name: FieldName, _ fields: borrowing FieldTable, in bytes: Span<UInt8>) -> Bool {
    for index in 0..<fields.count where fields[index].known == name {
      let value = bytes.extracting(fields[index].value)
      var start = 0
      while start < value.count {
        var end = start
        while end < value.count, ByteClass.of(value[end], ByteClass.token) { end += 1 }
        let word = value.extracting(start..<end)
        for scheme in schemes where word.equalsIgnoringCase(scheme) { return true }
        start = end + 1
      }
    }
    return false
  }
}
