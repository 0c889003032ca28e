import Configuration
import HTTP

/// Traefik in front: the dynamic configuration of its file provider, with `forwardAuth`. docs/engines.md explains it.
struct TraefikConfiguration {
  let settings: EngineSettings

  var text: String {
    layout(
      """
      # Traefik in front, with the tokens of the routes: a file of providers.file. Written by 'bearer-proxy engine
      # traefik'. forwardAuth asks for a token. Nothing reports one that the API refuses: it stays in use until it is
      # renewed.
      http:
        routers:
          \(settings.routes.map(router))
        middlewares:
          \(secret)
          \(settings.routes.map(middlewares))
        services:
          \(settings.routes.map(service))
        serversTransports:
          \(settings.routes.map(transport))

      """)
  }

  private func router(_ route: RouteSettings) -> String {
    let hosts = (route.host.map { [$0] } ?? settings.allNames).map { "Host(`\($0)`)" }
    let host = hosts.count == 1 ? hosts[0] : "(\(hosts.joined(separator: " || ")))"
    let chain = settings.secretField == nil ? [] : ["bearer-secret"]
    let names = chain + ["\(route.word)-token", "\(route.word)-path", "\(route.word)-removed"]
    return layout(
      """
      \(route.word):
        # CHANGE: the entry point where your programs call, and the names by which they do. A web page can give its own
        # name this address (DNS rebinding).
        entryPoints: [programs]
        rule: \("\(host) && PathPrefix(`\(route.path)`)".quoted)
        middlewares: [\(names.joined(separator: ", "))]
        service: \(route.word)
      """)
  }

  private var secret: String {
    guard let field = settings.secretField else { return "" }
    return layout(
      """
      bearer-secret:
        headers:
          customRequestHeaders:
            # CHANGE: the secret of callers.header. It goes to bearer-proxy alone: each route removes it.
            \(field): SECRET
      """)
  }

  private func middlewares(_ route: RouteSettings) -> String {
    let sent = ["Accept"] + EngineSettings.browserFields + route.tokenFields + [settings.secretField].compactMap(\.self)
    let certificate = """
      # CHANGE: the authority of bearer-proxy's certificate\(settings.needsCertificate ? ", and one of yours" : "").
      tls:
        ca: /etc/traefik/bearer-proxy-ca.pem
        \(settings.needsCertificate ? "cert: /etc/traefik/proxy.pem\nkey: /etc/traefik/proxy.key" : "")
      """ as EngineText
    return layout(
      """
      \(route.word)-token:
        forwardAuth:
          address: \("\(settings.origin)/.bearer/authorize/\(route.name)".quoted)
          # X-Forwarded-Method, -Host and -Uri are Traefik's own, never the caller's.
          trustForwardHeader: false
          # Fields of the caller that go along. Requests of browsers get no token. If Traefik itself decides which pages
          # may call, remove Origin and Sec-Fetch-….
          authRequestHeaders:
            \(sent.map { "- \($0)" })
          authResponseHeaders: [\(route.credentialField)]
          \(settings.listener.tls == nil ? "" : certificate.text)
      \(route.word)-path:
        replacePathRegex:
          regex: \("^\(route.pathExpression)(.*)".quoted)
          replacement: \("\(route.upstream.value.target)$1".quoted)
      \(route.word)-removed:
        headers:
          customRequestHeaders:
            # Fields that APIs may take for path, host or method, or that chose the token; also in the spellings that
            # some APIs cannot tell apart.
            \(removed(from: route).map { "\($0): \"\"" })
      """)
  }

  private func removed(from route: RouteSettings) -> [String] {
    let names = [settings.secretField].compactMap(\.self) + route.removedFields
    let passed = (MethodOverride.names.texts + [route.credentialField]).filter { !names.contains($0) }
    return names + (names + passed).flatMap(Self.twins)
  }

  /// The name with `_` for each choice of its dashes.
  private static func twins(_ name: String) -> [String] {
    let parts = name.split(separator: "-")
    let all = parts.dropFirst().reduce(parts.prefix(1).map(String.init)) { names, part in
      names.flatMap { ["\($0)-\(part)", "\($0)_\(part)"] }
    }
    return all.filter { $0 != name }
  }

  private func service(_ route: RouteSettings) -> String {
    layout(
      """
      \(route.word):
        loadBalancer:
          # CHANGE: the API.
          servers: [{url: \(route.upstream.value.origin.quoted)}]
          passHostHeader: \(route.preserveHost ? "true" : "false")
          serversTransport: \(route.word)
      """)
  }

  private func transport(_ route: RouteSettings) -> String {
    let certificate = route.tls.clientCertificate.map {
      "certificates: [{certFile: \($0.certificateFile.value.quoted), keyFile: \($0.keyFile.value.quoted)}]"
    }
    return layout(
      """
      \(route.word):
        serverName: \(route.certificateName.quoted)
        rootCAs: [\(settings.trust(of: route).quoted)]
        \(certificate ?? "")
      """)
  }
}
