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
  case xWawsUnencodedURL
  case xMSOriginalURL
  case xForwardedURL
  case xForwardedPath
  case xRequestURI
  case xEnvoyOriginalPath
  case xMatchedPath
  case xNowRouteMatches
  case xInvokePath
  case xInvokeQuery
  case xMiddlewareRewrite
  case xMiddlewareSubrequest
  case xAstroPath
  case xScriptName
  case xHTTPDestinationURL
  case xAccelMapping
  case xSendfileType
  case xHost
  case xOriginalHost
  case xHTTPHostOverride
  case xServerName
  case xForwardedServer
  case xEnvoyOriginalDstHost
  case xForwardedMethod
  case xOriginalMethod
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
    case .xWawsUnencodedURL: "x-waws-unencoded-url"
    case .xMSOriginalURL: "x-ms-original-url"
    case .xForwardedURL: "x-forwarded-url"
    case .xForwardedPath: "x-forwarded-path"
    case .xRequestURI: "x-request-uri"
    case .xEnvoyOriginalPath: "x-envoy-original-path"
    case .xMatchedPath: "x-matched-path"
    case .xNowRouteMatches: "x-now-route-matches"
    case .xInvokePath: "x-invoke-path"
    case .xInvokeQuery: "x-invoke-query"
    case .xMiddlewareRewrite: "x-middleware-rewrite"
    case .xMiddlewareSubrequest: "x-middleware-subrequest"
    case .xAstroPath: "x-astro-path"
    case .xScriptName: "x-script-name"
    case .xHTTPDestinationURL: "x-http-destinationurl"
    case .xAccelMapping: "x-accel-mapping"
    case .xSendfileType: "x-sendfile-type"
    case .xHost: "x-host"
    case .xOriginalHost: "x-original-host"
    case .xHTTPHostOverride: "x-http-host-override"
    case .xServerName: "x-server-name"
    case .xForwardedServer: "x-forwarded-server"
    case .xEnvoyOriginalDstHost: "x-envoy-original-dst-host"
    case .xForwardedMethod: "x-forwarded-method"
    case .xOriginalMethod: "x-original-method"
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
