// Fields by which a request asks to be treated as one of another method or path. No standard has them; many frameworks
// obey one or another. Spelt with `_` they are look-alikes, which are never forwarded.

/// The fields that override a request's method.
public enum MethodOverride {
  /// Google's, Microsoft's and IBM's names.
  public static var names: FieldNameSet {
    FieldNameSet(.xHTTPMethodOverride).with(.xHTTPMethod).with(.xMethodOverride)
  }
}

/// The fields that upstreams take for the path of a request in place of its target. The path decided about the route,
/// so these end here.
public enum PathOverride {
  /// The names of IIS and ISAPI_Rewrite, which PHP frameworks obey, of nginx's and Traefik's requests to authorization
  /// services, and those of gunicorn (`SCRIPT_NAME`, `PATH_INFO`).
  public static var names: FieldNameSet {
    FieldNameSet(.xOriginalURL).with(.xOriginalURI).with(.xOriginalPath).with(.xRewriteURL).with(.xRewriteURI)
      .with(.xOverrideURL).with(.xForwardedURI).with(.scriptName).with(.pathInfo)
  }
}
