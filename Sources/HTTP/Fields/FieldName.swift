/// A field name (RFC 9110 §5.1) that some rule knows; a name without a rule is `other`.
public enum FieldName: UInt8, Sendable, Hashable, CaseIterable {
  /// A name that no rule mentions.
  case other
  // In the order of `candidates`, which has their raw values.
  case host, connection, contentLength, transferEncoding, te, trailer, upgrade, keepAlive, proxyConnection
  case proxyAuthenticate, proxyAuthenticationInfo, proxyAuthorization, http2Settings, authorization, expect, via
  case forwarded, xForwardedFor, xForwardedProto, xForwardedHost, xForwardedPort, xRealIP, xRequestID, traceparent
  case tracestate, date, server, location, retryAfter, wwwAuthenticate, authenticationInfo, contentType
  case contentEncoding, contentRange, contentLocation, origin, referer, userAgent, secFetchSite, secFetchMode
  case secFetchDest, accept, acceptEncoding, cookie, setCookie, cacheControl, pragma, maxForwards, range, ifMatch
  case ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, ifRange, age, expires, vary, allow, eTag, lastModified
  case secPurpose, purpose, serviceWorker, acceptLanguage, upgradeInsecureRequests, serviceWorkerAllowed
  case clearSiteData, strictTransportSecurity, altSvc, nel, reportTo, reportingEndpoints, acceptCH, setLogin
  case secureSessionRegistration, cdnLoop, xHTTPMethodOverride, xHTTPMethod, xMethodOverride, xOriginalURL
  case xOriginalURI, xOriginalPath, xRewriteURL, xRewriteURI, xOverrideURL, xForwardedURI, scriptName, pathInfo
  case xWawsUnencodedURL, xMSOriginalURL, xForwardedURL, xForwardedPath, xRequestURI, xEnvoyOriginalPath, xMatchedPath
  case xNowRouteMatches, xInvokePath, xInvokeQuery, xMiddlewareRewrite, xMiddlewareSubrequest, xAstroPath, xScriptName
  case xHTTPDestinationURL, xAccelMapping, xSendfileType, xHost, xOriginalHost, xHTTPHostOverride, xServerName
  case xForwardedServer, xEnvoyOriginalDstHost, xForwardedMethod, xOriginalMethod, useAsDictionary, originAgentCluster
  case activateStorageAccess, criticalCH, secureSessionChallenge, secSessionRegistration, secSessionChallenge
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
