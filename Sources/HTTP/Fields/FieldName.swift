import Bytes

/// A field name (RFC 9110 §5.1) that some rule knows; a name without a rule is `other`.
public enum FieldName: UInt8, Sendable, Hashable, CaseIterable {
  /// A name that no rule mentions.
  case other
  case host
  case connection
  case contentLength
  case transferEncoding
  case te
  case trailer
  case upgrade
  case keepAlive
  case proxyConnection
  case proxyAuthenticate
  case proxyAuthenticationInfo
  case proxyAuthorization
  /// `http2-settings`.
  case http2Settings
  case authorization
  case expect
  case via
  case forwarded
  case xForwardedFor
  case xForwardedProto
  case xForwardedHost
  case xForwardedPort
  case xRealIP
  case xRequestID
  case traceparent
  case tracestate
  case date
  case server
  case location
  case retryAfter
  case wwwAuthenticate
  case authenticationInfo
  case contentType
  case contentEncoding
  case contentRange
  case contentLocation
  case origin
  case referer
  case userAgent
  case secFetchSite
  case secFetchMode
  case secFetchDest
  case accept
  case acceptEncoding
  case cookie
  case setCookie
  case cacheControl
  case pragma
  case maxForwards
  case range
  case ifMatch
  case ifNoneMatch
  case ifModifiedSince
  case ifUnmodifiedSince
  case ifRange
  case age
  case expires
  case vary
  case allow
  /// `etag`.
  case eTag
  case lastModified
  case secPurpose
  case purpose
  case serviceWorker
  case acceptLanguage
  case upgradeInsecureRequests
  case serviceWorkerAllowed
  case clearSiteData
  case strictTransportSecurity
  case altSvc
  case nel
  case reportTo
  case reportingEndpoints
  case acceptCH
  case setLogin
  case secureSessionRegistration
  case cdnLoop
  case xHTTPMethodOverride
  case xHTTPMethod
  case xMethodOverride
  case xOriginalURL
  case xOriginalURI
  case xOriginalPath
  case xRewriteURL
  case xRewriteURI
  case xOverrideURL
  case xForwardedURI
  case scriptName
  case pathInfo
  case useAsDictionary
  case originAgentCluster
  case activateStorageAccess
  case criticalCH
  case secureSessionChallenge
  case secSessionRegistration
  case secSessionChallenge
  /// A known name spelt with `_` for `-`. Programs behind gateways that pass fields on as environment variables (CGI,
  /// WSGI) cannot tell the two apart, so such a field is never forwarded.
  case lookalike

  /// The name in lower case; empty for `other` and `lookalike`.
  public var text: StaticString {
    switch self {
    case .other, .lookalike: ""
    case .host: "host"
    case .connection: "connection"
    case .contentLength: "content-length"
    case .transferEncoding: "transfer-encoding"
    case .te: "te"
    case .trailer: "trailer"
    case .upgrade: "upgrade"
    case .keepAlive: "keep-alive"
    case .proxyConnection: "proxy-connection"
    case .proxyAuthenticate: "proxy-authenticate"
    case .proxyAuthenticationInfo: "proxy-authentication-info"
    case .proxyAuthorization: "proxy-authorization"
    case .http2Settings: "http2-settings"
    case .authorization: "authorization"
    case .expect: "expect"
    case .via: "via"
    case .forwarded: "forwarded"
    case .xForwardedFor: "x-forwarded-for"
    case .xForwardedProto: "x-forwarded-proto"
    case .xForwardedHost: "x-forwarded-host"
    case .xForwardedPort: "x-forwarded-port"
    case .xRealIP: "x-real-ip"
    case .xRequestID: "x-request-id"
    case .traceparent: "traceparent"
    case .tracestate: "tracestate"
    case .date: "date"
    case .server: "server"
    case .location: "location"
    case .retryAfter: "retry-after"
    case .wwwAuthenticate: "www-authenticate"
    case .authenticationInfo: "authentication-info"
    case .contentType: "content-type"
    case .contentEncoding: "content-encoding"
    case .contentRange: "content-range"
    case .contentLocation: "content-location"
    case .origin: "origin"
    case .referer: "referer"
    case .userAgent: "user-agent"
    case .secFetchSite: "sec-fetch-site"
    case .secFetchMode: "sec-fetch-mode"
    case .secFetchDest: "sec-fetch-dest"
    case .accept: "accept"
    case .acceptEncoding: "accept-encoding"
    case .cookie: "cookie"
    case .setCookie: "set-cookie"
    case .cacheControl: "cache-control"
    case .pragma: "pragma"
    case .maxForwards: "max-forwards"
    case .range: "range"
    case .ifMatch: "if-match"
    case .ifNoneMatch: "if-none-match"
    case .ifModifiedSince: "if-modified-since"
    case .ifUnmodifiedSince: "if-unmodified-since"
    case .ifRange: "if-range"
    case .age: "age"
    case .expires: "expires"
    case .vary: "vary"
    case .allow: "allow"
    case .eTag: "etag"
    case .lastModified: "last-modified"
    case .secPurpose: "sec-purpose"
    case .purpose: "purpose"
    case .serviceWorker: "service-worker"
    case .acceptLanguage: "accept-language"
    case .upgradeInsecureRequests: "upgrade-insecure-requests"
    case .serviceWorkerAllowed: "service-worker-allowed"
    case .clearSiteData: "clear-site-data"
    case .strictTransportSecurity: "strict-transport-security"
    case .altSvc: "alt-svc"
    case .nel: "nel"
    case .reportTo: "report-to"
    case .reportingEndpoints: "reporting-endpoints"
    case .acceptCH: "accept-ch"
    case .setLogin: "set-login"
    case .secureSessionRegistration: "secure-session-registration"
    case .cdnLoop: "cdn-loop"
    case .xHTTPMethodOverride: "x-http-method-override"
    case .xHTTPMethod: "x-http-method"
    case .xMethodOverride: "x-method-override"
    case .xOriginalURL: "x-original-url"
    case .xOriginalURI: "x-original-uri"
    case .xOriginalPath: "x-original-path"
    case .xRewriteURL: "x-rewrite-url"
    case .xRewriteURI: "x-rewrite-uri"
    case .xOverrideURL: "x-override-url"
    case .xForwardedURI: "x-forwarded-uri"
    case .scriptName: "script-name"
    case .pathInfo: "path-info"
    case .useAsDictionary: "use-as-dictionary"
    case .originAgentCluster: "origin-agent-cluster"
    case .activateStorageAccess: "activate-storage-access"
    case .criticalCH: "critical-ch"
    case .secureSessionChallenge: "secure-session-challenge"
    case .secSessionRegistration: "sec-session-registration"
    case .secSessionChallenge: "sec-session-challenge"
    }
  }
}

extension FieldName {
  /// True if a text may be a field's name: a token (RFC 9110 §5.1).
  public static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { ByteClass.of($0, ByteClass.token) }
  }

  /// The name of `bytes` in any case. `bytes` is a token: the parsers have checked that before.
  public init(_ bytes: Span<UInt8>) {
    let length = bytes.count
    guard length >= 2, length <= 27 else {
      self = .other
      return
    }
    let middle = bytes[length / 2]
    // A look-alike has the slot of the name that it resembles.
    let slot =
      length &* 199 &+ Int((middle == ASCII.underscore ? ASCII.dash : middle) | 0x20) &* 234
      &+ Int(bytes[length - 1] | 0x20) &* 218 &+ Int(bytes[length - 2] | 0x20) &* 102
    guard let candidate = FieldName(rawValue: Self.candidates[slot & 0x1FF]), candidate != .other else {
      self = .other
      return
    }
    let text = candidate.text
    guard text.utf8CodeUnitCount == length else {
      self = .other
      return
    }
    var index = 0
    // A token has no byte below 0x21, so setting this bit makes a capital small and mistakes nothing for a letter.
    while index + 8 <= length {
      let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
      let expected = unsafe UnsafeRawPointer(text.utf8Start + index).loadUnaligned(as: UInt64.self)
      if word | 0x2020_2020_2020_2020 != expected { break }
      index += 8
    }
    var underscores = false
    while index < length {
      let expected = unsafe text.utf8Start[index]
      let byte = bytes[index]
      index += 1
      if byte | 0x20 == expected { continue }
      guard byte == ASCII.underscore, expected == ASCII.dash else {
        self = .other
        return
      }
      underscores = true
    }
    self = underscores ? .lookalike : candidate
  }

  // Raw value of the only name that can be at a slot. `FieldNameTests` looks every name up; a new name may need other
  // multipliers above.
  private static let candidates: InlineArray<512, UInt8> = [
    0, 0, 0, 0, 0, 87, 0, 0, 0, 0, 0, 0, 21, 72, 0, 0, 0, 0, 0, 65, 0, 0, 0, 0,
    0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 59, 0, 0, 0, 28, 0, 0, 0, 2, 58, 13, 0, 0, 0,
    0, 0, 0, 79, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 85, 0, 0, 0, 81, 0, 0, 0,
    0, 0, 0, 0, 33, 0, 66, 0, 44, 0, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 42, 0, 0, 0, 0, 0, 77, 0, 0, 0, 0, 51, 0, 0, 20, 0, 0, 67, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 76, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 31, 0, 0, 0, 0, 0, 78, 0, 11, 0, 0, 23, 52, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 86, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 16,
    0, 0, 94, 0, 0, 0, 0, 0, 0, 0, 0, 46, 3, 0, 0, 0, 0, 0, 80, 0, 1, 0, 0, 0,
    47, 0, 0, 0, 0, 70, 0, 22, 0, 0, 9, 0, 50, 0, 0, 0, 0, 0, 0, 84, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0, 0, 30, 82, 0, 0, 0, 29, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 38, 92, 35, 17, 0, 68, 0, 0, 45, 37, 0, 91, 0, 0, 0, 0, 0, 0, 25, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 93, 18, 0, 0, 0, 34, 0, 0, 0, 0, 0, 0, 15, 0,
    0, 74, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 88, 0, 0, 48, 0,
    0, 0, 0, 61, 0, 0, 63, 0, 0, 0, 0, 0, 0, 19, 26, 0, 0, 73, 0, 0, 0, 0, 0, 0,
    0, 0, 90, 0, 0, 64, 0, 75, 0, 0, 0, 0, 0, 53, 8, 0, 0, 83, 0, 49, 0, 0, 0, 7,
    0, 0, 0, 0, 0, 43, 0, 55, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 56,
    0, 0, 39, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 62, 0, 89, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 57, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 27, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 4, 0, 69, 0, 0, 0, 0, 0, 95, 0, 0, 54, 0, 0, 71, 0, 0, 0, 0, 0, 0,
    0, 0, 41, 14, 0, 0, 32, 0,
  ]
}

/// A set of known field names.
public struct FieldNameSet: Sendable {
  @usableFromInline var low: UInt64 = 0
  @usableFromInline var high: UInt64 = 0

  /// No name.
  @inlinable public init() {}

  /// One name.
  @inlinable public init(_ name: FieldName) { insert(name) }

  /// This set and another name. A chain of these is one constant to the compiler, which a list of names would not be.
  @inlinable public func with(_ name: FieldName) -> FieldNameSet {
    var set = self
    set.insert(name)
    return set
  }

  /// Adds a name.
  @inlinable public mutating func insert(_ name: FieldName) {
    if name.rawValue < 64 { low |= Self.bit(name) } else { high |= Self.bit(name) }
  }

  /// True if the name is in the set.
  @inlinable public func contains(_ name: FieldName) -> Bool {
    (name.rawValue < 64 ? low : high) & Self.bit(name) != 0
  }

  /// True if every name of this set is in the other one.
  @inlinable public func isSubset(of other: FieldNameSet) -> Bool { low & ~other.low | high & ~other.high == 0 }

  /// True if the two sets have a name in common.
  @inlinable public func intersects(_ other: FieldNameSet) -> Bool { low & other.low | high & other.high != 0 }

  // The place within a word: a masking shift looks at the lower six bits only.
  @inlinable static func bit(_ name: FieldName) -> UInt64 { 1 &<< UInt64(name.rawValue) }
}
