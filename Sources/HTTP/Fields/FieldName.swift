// Owns the field names this code base has rules about, and their spelling. A name without a rule is `other`.

/// A field name (RFC 9110 §5.1) that some rule of ours knows.
public enum FieldName: UInt8, Sendable, Hashable, CaseIterable {
  /// A name that no rule mentions.
  case other
  /// `host`.
  case host
  /// `connection`.
  case connection
  /// `content-length`.
  case contentLength
  /// `transfer-encoding`.
  case transferEncoding
  /// `te`.
  case te
  /// `trailer`.
  case trailer
  /// `upgrade`.
  case upgrade
  /// `keep-alive`.
  case keepAlive
  /// `proxy-connection`.
  case proxyConnection
  /// `proxy-authenticate`.
  case proxyAuthenticate
  /// `proxy-authentication-info`.
  case proxyAuthenticationInfo
  /// `proxy-authorization`.
  case proxyAuthorization
  /// `http2-settings`.
  case http2Settings
  /// `authorization`.
  case authorization
  /// `expect`.
  case expect
  /// `via`.
  case via
  /// `forwarded`.
  case forwarded
  /// `x-forwarded-for`.
  case xForwardedFor
  /// `x-forwarded-proto`.
  case xForwardedProto
  /// `x-forwarded-host`.
  case xForwardedHost
  /// `x-forwarded-port`.
  case xForwardedPort
  /// `x-real-ip`.
  case xRealIP
  /// `x-request-id`.
  case xRequestID
  /// `traceparent`.
  case traceparent
  /// `tracestate`.
  case tracestate
  /// `date`.
  case date
  /// `server`.
  case server
  /// `location`.
  case location
  /// `retry-after`.
  case retryAfter
  /// `www-authenticate`.
  case wwwAuthenticate
  /// `authentication-info`.
  case authenticationInfo
  /// `content-type`.
  case contentType
  /// `content-encoding`.
  case contentEncoding
  /// `content-range`.
  case contentRange
  /// `content-location`.
  case contentLocation
  /// `origin`.
  case origin
  /// `referer`.
  case referer
  /// `user-agent`.
  case userAgent
  /// `sec-fetch-site`.
  case secFetchSite
  /// `sec-fetch-mode`.
  case secFetchMode
  /// `sec-fetch-dest`.
  case secFetchDest
  /// `accept`.
  case accept
  /// `accept-encoding`.
  case acceptEncoding
  /// `cookie`.
  case cookie
  /// `set-cookie`.
  case setCookie
  /// `cache-control`.
  case cacheControl
  /// `pragma`.
  case pragma
  /// `max-forwards`.
  case maxForwards
  /// `range`.
  case range
  /// `if-match`.
  case ifMatch
  /// `if-none-match`.
  case ifNoneMatch
  /// `if-modified-since`.
  case ifModifiedSince
  /// `if-unmodified-since`.
  case ifUnmodifiedSince
  /// `if-range`.
  case ifRange
  /// `age`.
  case age
  /// `expires`.
  case expires
  /// `vary`.
  case vary
  /// `allow`.
  case allow
  /// `etag`.
  case eTag
  /// `last-modified`.
  case lastModified
  /// `sec-purpose`.
  case secPurpose
  /// `purpose`.
  case purpose
  /// `service-worker`.
  case serviceWorker
  /// `accept-language`.
  case acceptLanguage
  /// `upgrade-insecure-requests`.
  case upgradeInsecureRequests
  /// `service-worker-allowed`.
  case serviceWorkerAllowed
  /// `clear-site-data`.
  case clearSiteData
  /// `strict-transport-security`.
  case strictTransportSecurity
  /// `alt-svc`.
  case altSvc
  /// `nel`.
  case nel
  /// `report-to`.
  case reportTo
  /// `reporting-endpoints`.
  case reportingEndpoints
  /// `accept-ch`.
  case acceptCH
  /// `set-login`.
  case setLogin
  /// `secure-session-registration`.
  case secureSessionRegistration
  /// `cdn-loop`.
  case cdnLoop
  /// A known name spelt with `_` for `-`. Programs behind gateways that hand fields over as environment variables
  /// (CGI, WSGI) cannot tell the two apart, so such a field is never forwarded.
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
    }
  }
}
