import Configuration
import HTTP

/// Caddy in front: `forward_auth` for a token, and once more with the refused one. docs/engines.md explains it.
struct CaddyConfiguration {
  let settings: EngineSettings

  var text: String {
    layout(
      """
      # Caddy in front, with the tokens of the routes. Written by 'bearer-proxy engine caddy'. A token that the API
      # refuses is replaced once, and a request without a body is sent again.
      {
      \tadmin off
      \tauto_https off
      }

      \(settings.routes.filter { $0.token.fixed == nil }.map(again).joined(separator: "\n\n"))

      \(settings.hosts.map(site).joined(separator: "\n\n"))

      # A web page can give its own name this address (DNS rebinding), and would call the APIs.
      http://:8000 {
      \tbind 127.0.0.1
      \trespond 421
      }

      """)
  }

  private func site(_ host: String?) -> String {
    layout(
      """
      # CHANGE: where your programs call, and by which names.
      \((host.map { [$0] } ?? EngineSettings.names).map { "http://\($0):8000" }.joined(separator: ", ")) {
      \tbind 127.0.0.1
      \t\(settings.routes(of: host).map(handle))
      }
      """)
  }

  private func handle(_ route: RouteSettings) -> String {
    let upstream = route.upstream.value
    return layout(
      """
      handle \(route.path)* {
      \t# 'route' keeps this order.
      \troute {
      \t\t# Fields that only Caddy may send to bearer-proxy.
      \t\trequest_header -X-Bearer-*
      \t\trequest_header -X-Original-*
      \t\t# APIs may read X_Rewrite_URL as X-Rewrite-URL.
      \t\trequest_header -*_*
      \t\t\(route.tokenFields.contains(route.credentialField) ? own(route) : "")
      \t\t\(question(route, again: ""))
      \t\t\(route.path == "/" ? "" : "uri strip_prefix \(route.path.dropLast())")
      \t\t\(upstream.target == "/" ? "" : "rewrite * \(upstream.target.dropLast()){uri}")
      \t\t# CHANGE: the API.
      \t\treverse_proxy \(upstream.origin) {
      \t\t\t\(forwarding(route))
      \t\t\t\(route.token.fixed == nil ? refusals(route) : "")
      \t\t}
      \t}
      }
      """)
  }

  /// The caller's own field: a second question needs it again.
  private func own(_ route: RouteSettings) -> String {
    "vars caller {http.request.header.\(route.credentialField)}"
  }

  private func refusals(_ route: RouteSettings) -> String {
    """
    @refused status 401
    @scope {
    \tstatus 403
    \theader WWW-Authenticate *insufficient_scope*
    }
    handle_response @refused {
    \timport \(route.word)_again
    }
    handle_response @scope {
    \timport \(route.word)_again
    }
    """
  }

  private func again(_ route: RouteSettings) -> String {
    let report = """
      header_up X-Forwarded-Uri {http.request.orig_uri}
      header_up X-Bearer-Refused {http.request.header.Authorization}
      header_up X-Bearer-Challenge {vars.challenge}
      header_up X-Bearer-Status {vars.status}
      \(route.tokenFields.contains(route.credentialField) ? "header_up \(route.credentialField) {vars.caller}" : "")
      """ as EngineText
    return layout(
      """
      (\(route.word)_again) {
      \troute {
      \t\tvars {
      \t\t\tchallenge {http.reverse_proxy.header.Www-Authenticate}
      \t\t\tstatus {http.reverse_proxy.status_code}
      \t\t}
      \t\t\(question(route, again: report.text))
      \t\t# A body is gone by now: its caller gets the challenge, and the next request the new token.
      \t\t@body not method GET HEAD OPTIONS DELETE
      \t\theader @body WWW-Authenticate {vars.challenge}
      \t\trespond @body "" {vars.status}
      \t\treverse_proxy \(route.upstream.value.origin) {
      \t\t\t\(forwarding(route))
      \t\t}
      \t}
      }
      """)
  }

  /// Caddy sends the caller's fields along, and describes the request in `X-Forwarded-` fields.
  private func question(_ route: RouteSettings, again report: String) -> String {
    let source = settings.socketPath.map { "unix/\($0)" } ?? settings.origin
    let tls = """
      # CHANGE: the authority of bearer-proxy's certificate.
      tls_server_name localhost
      tls_trusted_ca_certs /etc/caddy/bearer-proxy-ca.pem
      \(settings.needsCertificate ? "tls_client_auth /etc/caddy/proxy.pem /etc/caddy/proxy.key" : "")
      """ as EngineText
    return layout(
      """
      forward_auth \(source) {
      \turi /.bearer/authorize/\(route.name)
      \theader_up Host \(route.questionHost)
      \t\(settings.secretField.map { "# CHANGE: the secret of callers.header.\nheader_up \($0) SECRET" } ?? "")
      \t\(report)
      \tcopy_headers \(route.credentialField)
      \ttransport http {
      \t\t# Older versions may keep a connection to the API among those for questions.
      \t\tkeepalive off
      \t\t\(settings.listener.tls == nil ? "" : tls.text)
      \t}
      }
      """)
  }

  private func forwarding(_ route: RouteSettings) -> String {
    let tls = [
      route.tls.serverName.map { "tls_server_name \($0)" }, route.tls.caFile.map { "tls_trusted_ca_certs \($0.value)" },
      route.tls.clientCertificate.map { "tls_client_auth \($0.certificateFile.value) \($0.keyFile.value)" },
    ].compactMap(\.self)
    return layout(
      """
      \(route.preserveHost ? "" : "header_up Host {upstream_hostport}")
      # Fields that APIs may take for path, host or method, or that chose the token.
      \(route.removedFields.map { "header_up -\($0)" })
      \(tls.isEmpty ? "" : layout("transport http {\n\t\(tls)\n}"))
      """)
  }
}
