import Configuration
import HTTP

/// HAProxy in front: a Lua action for a token, and another one that reports a refused one. docs/engines.md explains it.
struct HAProxyConfiguration {
  let settings: EngineSettings

  var text: String {
    let source = settings.socketPath.map { "unix@\($0)" } ?? settings.origin
    let sent = settings.tokenFields.joined(separator: " ")
    let names = settings.allNames.joined(separator: " ")
    let secret = settings.secretField.map {
      "# CHANGE: the secret of callers.header.\nsetenv BEARER_PROXY_SECRET \"\($0): SECRET\""
    }
    return layout(
      """
      # HAProxy in front, with the tokens of the routes; bearer.lua is beside this file. Written by 'bearer-proxy engine
      # haproxy', and the script by 'bearer-proxy engine haproxy-lua'. A token that the API refuses is reported, and the
      # next request carries another one: HAProxy cannot send a request again.
      global
        # For the script: where tokens are, and fields of callers that decide about them.
        setenv BEARER_PROXY "\(source)"
        \(sent.isEmpty ? "" : "setenv BEARER_PROXY_FIELDS \"\(sent)\"")
        \(secret ?? "")
        \(settings.listener.tls == nil ? "" : Self.authority)
        lua-load /etc/haproxy/bearer.lua

      defaults
        mode http
        timeout connect 5s
        timeout client 60s
        timeout server 60s
        # A first token may take longer than a request.
        timeout http-request 60s

      frontend programs
        # CHANGE: where your programs call.
        bind 127.0.0.1:8000
        # CHANGE: the names by which your programs call. A web page can give its own name this address (DNS rebinding).
        http-request deny deny_status 421 unless { req.hdr(host),host_only -i \(names) }
        \(settings.routes.map(choice))

      \(settings.routes.map(backend).joined(separator: "\n\n"))

      """)
  }

  private static let authority = """
    # CHANGE: the authority of bearer-proxy's certificate.
    httpclient.ssl.ca-file /etc/haproxy/bearer-proxy-ca.pem
    """

  private func choice(_ route: RouteSettings) -> String {
    let names = route.host ?? settings.allNames.joined(separator: " ")
    return "use_backend \(route.word) if { req.hdr(host),host_only -i \(names) } { path_beg \(route.path) }"
  }

  private func backend(_ route: RouteSettings) -> String {
    let upstream = route.upstream.value
    let trust = " ssl verify required ca-file \(settings.trust(of: route)) sni str(\(route.certificateName))"
    let shown = route.tls.clientCertificate.map { " crt \($0.certificateFile.value)" } ?? ""
    return layout(
      """
      backend \(route.word)
        # Fields that only HAProxy may send to bearer-proxy are not forwarded either.
        http-request del-header X-Bearer- -m beg
        # APIs may read X_Original_URL as X-Original-URL.
        http-request del-header _ -m sub
        http-request lua.bearer \(route.name) \(route.credentialField.lowercased())
        # A script that fails leaves the request as it was.
        http-request deny deny_status 503 unless { var(txn.bearer) -m found }
        # Fields that APIs may take for path, host or method, or that chose the token.
        \(route.removedFields.map { "http-request del-header \($0)" })
        http-request replace-path ^\(route.pathExpression)(.*) \(upstream.target)\\1
        # CHANGE: the API.
        \(route.preserveHost ? "" : "http-request set-header Host \(upstream.authority)")
        \(route.token.fixed == nil ? "http-response lua.bearer_refused if { status 401 403 }" : "")
        server api \(upstream.writtenHost):\(upstream.port)\(upstream.scheme == .https ? trust + shown : "")
      """)
  }
}
