// The reading of `HTTP-version`, the same in request and status lines.
//
//     HTTP-version = HTTP-name "/" DIGIT "." DIGIT ; HTTP-name = %s"HTTP"                 (RFC 9112 §2.3)

import Bytes

/// The bytes at the place of a version.
enum VersionReading {
  case needsMore
  case version(HTTPVersion, next: Int)
  /// A version, of another major number than 1.
  case unsupported
  case malformed

  /// Reads at `start`; bytes at and behind `end` are not read.
  init(_ bytes: Span<UInt8>, at start: Int, end: Int) {
    if start + 8 <= end {
      let word = UInt64(bigEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
      if word == 0x4854_5450_2F31_2E31 {  // "HTTP/1.1"
        self = .version(.http11, next: start + 8)
        return
      }
    }
    self = Self.read(bytes, at: start, end: end)
  }

  @inline(never)
  private static func read(_ bytes: Span<UInt8>, at start: Int, end: Int) -> VersionReading {
    let pattern: StaticString = "HTTP/9.9"
    for offset in 0..<8 {
      if start + offset >= end { return .needsMore }
      let byte = bytes[start + offset]
      if offset == 5 || offset == 7 {
        if byte &- ASCII.zero >= 10 { return .malformed }
      } else if unsafe byte != pattern.utf8Start[offset] {
        return .malformed
      }
    }
    if bytes[start + 5] != ASCII.zero + 1 { return .unsupported }
    return .version(bytes[start + 7] == ASCII.zero ? .http10 : .http11, next: start + 8)
  }
}

/// The version of a message. A higher minor version than 1 counts as 1.1 (RFC 9110 §2.5).
public enum HTTPVersion: UInt8, Sendable, Hashable {
  /// HTTP/1.0.
  case http10
  /// HTTP/1.1.
  case http11
  /// HTTP/2. Its messages are read and written in the form of HTTP/1.1, and translated at the connection.
  case http2
}

/// The capabilities of a version, each by its name.
extension HTTPVersion {
  /// True if a connection carries another message by default (RFC 9112 §9.3).
  @inlinable package var keepsConnections: Bool { self != .http10 }

  /// True if content of unknown length has an end of its own: chunks (RFC 9112 §7.1), or a stream of HTTP/2.
  @inlinable package var hasChunks: Bool { self != .http10 }

  /// True if there are interim responses, and expectations of one (RFC 9110 §15.2, §10.1.1).
  @inlinable package var hasInterimResponses: Bool { self != .http10 }

  /// True if a request can ask for another protocol: on its connection (RFC 9110 §7.8), or on its stream, with an
  /// extended CONNECT (RFC 8441 §4).
  @inlinable package var hasUpgrades: Bool { self != .http10 }

  /// True if a request must have a `Host` field (RFC 9112 §3.2).
  @inlinable package var demandsHost: Bool { self != .http10 }

  /// The form in `Via` (RFC 9110 §7.6.3).
  package var number: StaticString {
    switch self {
    case .http10: "1.0"
    case .http11: "1.1"
    case .http2: "2"
    }
  }
}
