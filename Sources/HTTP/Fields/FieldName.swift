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
  public var text: StaticString { Self.texts[Int(rawValue)] }

  // In the order of the cases, as a literal, which no access initialises.
  private static let texts: InlineArray<122, StaticString> = [
    "", "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "keep-alive",
    "proxy-connection", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "http2-settings",
    "authorization", "expect", "via", "forwarded", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host",
    "x-forwarded-port", "x-real-ip", "x-request-id", "traceparent", "tracestate", "date", "server", "location",
    "retry-after", "www-authenticate", "authentication-info", "content-type", "content-encoding", "content-range",
    "content-location", "origin", "referer", "user-agent", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest",
    "accept", "accept-encoding", "cookie", "set-cookie", "cache-control", "pragma", "max-forwards", "range", "if-match",
    "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "age", "expires", "vary", "allow", "etag",
    "last-modified", "sec-purpose", "purpose", "service-worker", "accept-language", "upgrade-insecure-requests",
    "service-worker-allowed", "clear-site-data", "strict-transport-security", "alt-svc", "nel", "report-to",
    "reporting-endpoints", "accept-ch", "set-login", "secure-session-registration", "cdn-loop",
    "x-http-method-override", "x-http-method", "x-method-override", "x-original-url", "x-original-uri",
    "x-original-path", "x-rewrite-url", "x-rewrite-uri", "x-override-url", "x-forwarded-uri", "script-name",
    "path-info", "x-waws-unencoded-url", "x-ms-original-url", "x-forwarded-url", "x-forwarded-path", "x-request-uri",
    "x-envoy-original-path", "x-matched-path", "x-now-route-matches", "x-invoke-path", "x-invoke-query",
    "x-middleware-rewrite", "x-middleware-subrequest", "x-astro-path", "x-script-name", "x-http-destinationurl",
    "x-accel-mapping", "x-sendfile-type", "x-host", "x-original-host", "x-http-host-override", "x-server-name",
    "x-forwarded-server", "x-envoy-original-dst-host", "x-forwarded-method", "x-original-method", "use-as-dictionary",
    "origin-agent-cluster", "activate-storage-access", "critical-ch", "secure-session-challenge",
    "sec-session-registration", "sec-session-challenge", "",
  ]
}
