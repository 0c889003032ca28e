// Fields by which a request asks to be treated as one of another method, path or host. No standard has them; many
// frameworks obey one or another. Spelt with `_` they are look-alikes, which are never forwarded.

/// The fields that override a request's method.
public enum MethodOverride {
  /// Google's, Microsoft's and IBM's names, and those of nginx's and Traefik's requests to authorization services.
  @inlinable public static var names: FieldNameSet {
    FieldNameSet(.xHTTPMethodOverride).with(.xHTTPMethod).with(.xMethodOverride).with(.xForwardedMethod)
      .with(.xOriginalMethod)
  }
}

/// The fields that upstreams take for the path or the host of a request in place of its target. The target decided
/// about the route, so these end here. `X-Forwarded-Host` is written anew.
public enum TargetOverride {
  /// All of them.
  @inlinable public static var names: FieldNameSet { originalPaths.union(internalPaths).union(files).union(hosts) }

  /// The path before a hop changed it: names of IIS and ISAPI_Rewrite, which PHP frameworks obey, of Azure's hosts, of
  /// nginx's and Traefik's requests to authorization services, of Kong and Envoy, and those of gunicorn (`SCRIPT_NAME`,
  /// `PATH_INFO`) and of WSGI programs below a prefix.
  @inlinable static var originalPaths: FieldNameSet {
    FieldNameSet(.xOriginalURL).with(.xOriginalURI).with(.xOriginalPath).with(.xRewriteURL).with(.xRewriteURI)
      .with(.xOverrideURL).with(.xWawsUnencodedURL).with(.xMSOriginalURL).with(.xForwardedURI).with(.xForwardedURL)
      .with(.xForwardedPath).with(.xRequestURI).with(.xEnvoyOriginalPath).with(.xHTTPDestinationURL)
      .with(.scriptName).with(.pathInfo).with(.xScriptName)
  }

  /// The path that one part of a framework tells another: Next.js and Astro.
  @inlinable static var internalPaths: FieldNameSet {
    FieldNameSet(.xMatchedPath).with(.xNowRouteMatches).with(.xInvokePath).with(.xInvokeQuery)
      .with(.xMiddlewareRewrite).with(.xMiddlewareSubrequest).with(.xAstroPath)
  }

  /// The path of a file that a server in front sends in the place of the response: Rack and Symfony.
  @inlinable static var files: FieldNameSet { FieldNameSet(.xAccelMapping).with(.xSendfileType) }

  /// The host.
  @inlinable static var hosts: FieldNameSet {
    FieldNameSet(.xHost).with(.xOriginalHost).with(.xHTTPHostOverride).with(.xServerName).with(.xForwardedServer)
      .with(.xEnvoyOriginalDstHost)
  }
}
