internal import Bytes
internal import HTTP
internal import Routing

extension SectionShape {
  static let route = SectionShape([
    Row(
      .name, .name, isRequired: true, "The name in logs, metrics and error documents: letters, digits, '-', '_', '.'."),
    Row(.displayName, .text, "What people read on pages instead of the name, at most 80 characters."),
    Row(.host, .text, "The Host that it matches, without a port. Default: every host."),
    Row(
      .path, .pattern(#"^/(.*/)?$|\$\{"#), isRequired: true,
      """
      The path that it matches, with '/' at both ends. /graph/ matches /graph/, everything below it, and /graph \
      itself. The rest is appended to the upstream's path.
      """),
    Row(
      .methods, .texts, default: .words("every method"),
      "The methods that it matches, in capital letters. They also limit fields such as X-HTTP-Method-Override."),
    Row(
      .upstream, .url, isRequired: true,
      "The upstream. The caller's query is forwarded. Redirects are never followed."),
    Row(.application, .name, "The application whose token is added."),
    Row(.token, .wordOrSection(["none"], token), isRequired: true, "The token: none, or whose and for which scopes."),
    Row(
      .handOut, .choice(HandOut.self), default: .value(HandOut.none.rawValue),
      "The programs that get the route's tokens, at listeners with the same setting: proxies or none."),
    Row(
      .tokenFile, .section(tokenFile),
      """
      A file with the route's token, for programs that read one: written whole, replaced at each renewal, removed when \
      the token ends and at shutdown.
      """),
    Row(
      .requestHeaders, .section(requestHeaders),
      """
      Fields that the route sets and removes in requests. None on which framing, identity or the path depends. A \
      caller's field of the same name is removed, also if it is written with '_' for '-'.
      """),
    Row(.preserveHost, .boolean, default: .value("false"), "Forward the caller's Host instead of the upstream's."),
    Row(
      .allowPlaintext, .boolean, default: .value("false"),
      "Send the token without TLS to an http: upstream that is not on a loopback address."),
    Row(
      .upgrade, .choices(UpgradeProtocol.allCases.map(\.rawValue)),
      """
      Protocols to which callers may upgrade a connection, or a stream of HTTP/2: websocket. The handshake carries the \
      token.
      """),
    Row(
      .protocol, .choice(UpstreamProtocol.self), default: .value(UpstreamProtocol.http1.rawValue),
      """
      The version of HTTP to the upstream. auto: HTTP/2 if a TLS upstream chooses it (ALPN), else HTTP/1.1. http2: \
      HTTP/2 alone, to an http: upstream without asking (prior knowledge).
      """),
    Row(
      .encodedPath, .choices(EncodedPath.names.map(\.name)), default: .words("none"),
      """
      Percent-encoded characters that a path may contain although some servers interpret them. Without this, such a \
      path gets 400. The path is forwarded as it came. Dot segments are rejected in every spelling. backslash is %5C. \
      Servers that treat it as a slash see other segments: /a%5Cb is /a/b to them. percent is %25 before the digits of \
      a dot, slash or backslash, such as %252F. Servers that decode twice see these. tab is %09. Programs that remove \
      it see another name: their rule for /admin does not match /ad%09min. line_feed and carriage_return are %0A and \
      %0D. Programs that write the decoded path into a head or a log add a line.
      """),
    Row(
      .proxy, .proxyAddress,
      "The HTTP proxy for connections to the upstream, or none. Default: as for an application."),
    Row(
      .probe, .pattern(#"^[!-"$-~]+$"#),
      """
      What 'bearer-proxy check --live' requests below the upstream's path, with the token. Default: it only connects.
      """),
    Row(
      .tls, .section(routeTLS),
      "TLS to this https upstream. A certificate and its key must be in the same section."),
    Row(.timeouts, .section(routeTimeouts), default: .section, "Time limits of this route."),
    Row(.pool, .section(routePool), default: .section, "Upstream connections kept for the next request."),
  ])

  static let tokenFile = SectionShape([
    Row(.path, .file, isRequired: true, "The file, in a directory in memory (tmpfs) such as below /run."),
    Row(
      .gid, .integer(0...Int(UInt32.max - 1)), default: .words("none; mode 0600"),
      "A group that may read it: mode 0640."),
    Row(
      .leastLife, .duration(.seconds(1)...(.seconds(3600))), default: .value(durationText(TokenFileSettings.usualLife)),
      "The least life of the token in the file. With less, it is renewed, or the file is removed."),
    Row(
      .allowDisk, .boolean, default: .value("false"),
      "Write the token also to a file system that is not in memory."),
  ])

  static let requestHeaders = SectionShape(
    [
      Row(.set, .values, "Names with a value each, such as X-Tenant: contoso."),
      Row(.remove, .texts, "Names."),
    ], .some)

  static let routeTLS = SectionShape(
    upstreamTLS.rows + [
      Row(
        .serverName, .text,
        "The name to request (SNI) and to expect in the certificate, instead of the upstream's host.")
    ], .together([.certificateFile, .keyFile]))

  static let routeTimeouts = SectionShape(timeouts.rows.filter { $0.key != .requestHead }.map(\.inherited))

  static let routePool = SectionShape(pool.rows.map(\.inherited))

  static let defaults = SectionShape([
    Row(.tls, .section(upstreamTLS), "TLS to https upstreams. Certificates and host names are always verified."),
    Row(.timeouts, .section(timeouts), default: .section, "Time limits."),
    Row(.pool, .section(pool), default: .section, "Upstream connections kept for the next request."),
  ])

  static let upstreamTLS = SectionShape(
    [
      Row(.caFile, .file, "PEM: certification authorities, instead of the system's."),
      Row(.certificateFile, .file, "PEM: the client certificate for a server that asks for one. Needs key_file."),
      Row(.keyFile, .file, "PEM: the private key that belongs to it."),
    ], .together([.certificateFile, .keyFile]))

  static let timeouts = SectionShape([
    Row(
      .connect, .anyDuration, default: .value(durationText(ExchangeTimeouts().connect)),
      "To connect to the upstream, including the TLS handshake."),
    Row(
      .requestHead, .anyDuration, default: .value(durationText(ServiceLimits().requestHead)),
      "For the caller to send a request's head."),
    Row(
      .responseHead, .anyDuration, default: .value(durationText(ExchangeTimeouts().responseHead)),
      "For the upstream to start its response after the request has ended."),
    Row(
      .idle, .anyDuration, default: .value(durationText(ExchangeTimeouts().idle)),
      "Without any progress of a body; under defaults, also between two requests on a connection."),
    Row(.exchange, .anyDurationOrNone, default: .value("none"), "For a whole request and its response."),
  ])

  static let pool = SectionShape([
    Row(
      .maxIdle, .integer(0...10_000), default: .value("\(PoolLimits().maximumIdle)"),
      "Idle connections per upstream and event loop. 0: none is kept."),
    Row(
      .idleTimeout, .anyDuration, default: .value(durationText(PoolLimits().idleTimeout)),
      "How long an idle connection is kept. Choose less than the upstream allows."),
  ])
}
