internal import Bytes
internal import HTTP
package import Tokens

/// A redirect URI of loopback (RFC 8252 §7.3), perhaps without a port.
package struct LoopbackRedirect: Sendable, Hashable {
  /// `localhost` or `127.0.0.1`.
  let host: String
  /// The port to listen at; nil lets the kernel choose one.
  let port: UInt16?
  /// As written in the URI; may be empty.
  let path: String

  /// The usual one. Entra ignores the port of `localhost` alone (RFC 8252 §7.3 requires it for the address).
  package init(_ callback: CallbackPath, port: UInt16? = nil) {
    host = "localhost"
    self.port = port
    switch callback {
    case .shared: path = ""
    case .own: path = callback.path
    }
  }

  /// A given one: `http://localhost` or `http://127.0.0.1`, with or without a port and a path; nil is another address.
  package init?(_ text: String) {
    let scheme = "http://"
    guard text.hasPrefix(scheme) else { return nil }
    let rest = text.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" }
    let path = rest.dropFirst(authority.count)
    let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts[0] == "localhost" || parts[0] == "127.0.0.1" else { return nil }
    if parts.count == 2 {
      guard let port = UInt16(parts[1]), port > 0, parts[1] == "\(port)" else { return nil }
      self.port = port
    } else {
      port = nil
    }
    // In the form of the browser's request, with which it is compared: no query, no fragment, normal.
    var normal = ByteBuffer(capacity: 64)
    let isPlain = path.utf8.allSatisfy {
      (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
    }
    guard isPlain, NormalPath.normalise(Array(path.utf8).span, into: &normal) == .alreadyNormal || path.isEmpty else {
      return nil
    }
    host = String(parts[0])
    self.path = String(path)
  }

  /// The URI with the listener's port.
  package func uri(port: UInt16) -> String { "http://\(host):\(port)\(path)" }

  var requestPath: String { path.isEmpty ? "/" : path }
}

extension LoopbackRedirect: CustomStringConvertible {
  /// In the form for registration with a provider.
  package var description: String { "http://\(host)\(port.map { ":\($0)" } ?? "")\(path)" }
}
