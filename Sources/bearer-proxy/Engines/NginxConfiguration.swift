import Bytes
import Configuration
import HTTP
import Routing

/// nginx in front: `auth_request` for a token, and once more with the refused one. docs/engines.md explains it.
struct NginxConfiguration {
  let settings: EngineSettings

  var text: String {
    let takesUpgrades = settings.routes.contains { !$0.upgrades.isEmpty }
    let parts = [tokenSource] + (takesUpgrades ? [Self.upgrade] : []) + settings.routes.map(api)
    return (parts + settings.hosts.map(server) + [Self.stranger]).joined(separator: "\n\n") + "\n"
  }

  private var tokenSource: String {
    """
    # nginx in front: include this in the http block (Debian: /etc/nginx/conf.d/).
    # Written by 'bearer-proxy engine nginx'. A token that the API refuses is replaced once, and the request is sent
    # again with its body.
    upstream bearer_proxy {
      server \(settings.socketPath.map { "unix:\($0)" } ?? settings.address);
      keepalive 16;
    }
    """
  }

  private static let upgrade = """
    map $http_upgrade $bearer_connection {
      default upgrade;
      "" "";
    }
    """

  private static let stranger = """
    server {
      # A web page can give its own name this address (DNS rebinding), and would call the APIs.
      listen 127.0.0.1:8000 default_server;
      return 421;
    }
    """

  private func api(_ route: RouteSettings) -> String {
    """
    upstream \(route.word)_api {
      server \(route.upstream.value.writtenHost):\(route.upstream.value.port);
      keepalive 16;
    }
    """
  }

  private func server(_ host: String?) -> String {
    layout(
      """
      server {
        # CHANGE: where your programs call, and by which names.
        listen 127.0.0.1:8000;
        server_name \(host ?? EngineSettings.names.joined(separator: " "));
        # APIs may read X_Original_URL as X-Original-URL.
        underscores_in_headers off;

        \(settings.routes(of: host).map(locations).joined(separator: "\n\n"))
      }
      """)
  }

  private func locations(_ route: RouteSettings) -> String {
    let (name, word, upstream) = (route.name, route.word, route.upstream.value)
    let (scheme, isFixed) = (upstream.scheme.text, route.token.fixed != nil)
    let first = layout(
      """
      location \(route.path) {
        auth_request /.bearer/\(name);
        auth_request_set $\(word)_bearer $upstream_http_\(Self.variable(route.credentialField));
        \(isFixed ? "" : "proxy_intercept_errors on;\nerror_page 401 = @\(word)_refused;")
        proxy_pass \(scheme)://\(word)_api\(upstream.target);
        \(forwarding(route, token: "\(word)_bearer"))
      }

      \(isFixed ? "" : "# The first question. Only what is set here goes along: a caller's own X-Bearer fields do not.")
      location = /.bearer/\(name) {
        \(question(route))
        \(browserFields(explained: true))
        \(isFixed ? "" : "# auth_request makes 500 of a 503; of a 401, @\(word)_refused makes the whole answer.")
        \(isFixed ? "" : "proxy_set_header X-Bearer-Unavailable 401;")
      }
      """)
    // Of a fixed field there is no other one to send a refused request again with.
    if isFixed { return first }
    return layout(
      """
      \(first)

      location @\(word)_refused {
        # Without a token, the proxy of tokens has refused: the caller gets its answer whole.
        if ($\(word)_bearer = "") {
          rewrite ^ /.bearer/\(name)/answer last;
        }
        set $bearer_refused $\(word)_bearer;
        set $bearer_challenge $upstream_http_www_authenticate;
        auth_request /.bearer/\(name)/again;
        auth_request_set $\(word)_other $upstream_http_authorization;
        # A named location cannot replace a path in proxy_pass.
        rewrite ^\(route.pathExpression)(.*)$ \(upstream.target)$1 break;
        proxy_pass \(scheme)://\(word)_api;
        \(forwarding(route, token: "\(word)_other"))
      }

      location = /.bearer/\(name)/again {
        \(question(route))
        proxy_set_header X-Bearer-Refused $bearer_refused;
        proxy_set_header X-Bearer-Challenge $bearer_challenge;
        proxy_set_header X-Bearer-Status 401;
      }

      location = /.bearer/\(name)/answer {
        \(question(route))
        proxy_method GET;
        proxy_set_header Accept $http_accept;
        \(browserFields(explained: false))
        # Should there be a token by now, the answer is 503.
        proxy_set_header X-Bearer-Answer refusal;
      }
      """)
  }

  private func forwarding(_ route: RouteSettings, token: String) -> [String] {
    let upstream = route.upstream.value
    var lines = [
      "proxy_http_version 1.1;",
      "proxy_set_header Connection \(route.upgrades.isEmpty ? "\"\"" : "$bearer_connection");",
      "proxy_set_header Host \(route.preserveHost ? "$http_host" : upstream.authority);",
      "proxy_set_header \(route.credentialField) $\(token);",
    ]
    if !route.upgrades.isEmpty { lines.append("proxy_set_header Upgrade $http_upgrade;") }
    lines.append("# Fields that APIs may take for path, host or method, or that chose the token.")
    lines += route.removedFields.map { #"proxy_set_header \#($0) "";"# }
    if upstream.scheme == .https {
      lines += [
        "proxy_ssl_server_name on;", "proxy_ssl_name \(route.certificateName);", "proxy_ssl_verify on;",
        "proxy_ssl_trusted_certificate \(settings.trust(of: route));",
      ]
      if let certificate = route.tls.clientCertificate {
        lines.append("proxy_ssl_certificate \(certificate.certificateFile.value);")
        lines.append("proxy_ssl_certificate_key \(certificate.keyFile.value);")
      }
    }
    return lines
  }

  /// The common part of every question. Tokens are long: nginx's buffer for a head is 4 or 8 KiB.
  private func question(_ route: RouteSettings) -> [String] {
    var lines = [
      "internal;", "proxy_pass \(settings.scheme)://bearer_proxy/.bearer/authorize/\(route.name);",
      "proxy_http_version 1.1;",
      "proxy_pass_request_body off;", "proxy_pass_request_headers off;", #"proxy_set_header Content-Length "";"#,
      #"proxy_set_header Connection "";"#, "proxy_set_header Host \(route.questionHost);",
      "proxy_set_header X-Original-Method $request_method;", "proxy_set_header X-Original-URI $request_uri;",
    ]
    if let field = settings.secretField {
      lines += ["# CHANGE: the secret of callers.header.", #"proxy_set_header \#(field) "SECRET";"#]
    }
    if settings.listener.tls != nil {
      lines += [
        "# CHANGE: the authority of bearer-proxy's certificate.", "proxy_ssl_verify on;", "proxy_ssl_name localhost;",
        "proxy_ssl_trusted_certificate /etc/nginx/bearer-proxy-ca.pem;",
      ]
    }
    if settings.needsCertificate {
      lines += [
        "# CHANGE: a certificate that callers.certificate accepts.", "proxy_ssl_certificate /etc/nginx/proxy.pem;",
        "proxy_ssl_certificate_key /etc/nginx/proxy.key;",
      ]
    }
    lines += route.tokenFields.map { "proxy_set_header \($0) \(Self.sent($0));" }
    lines += ["proxy_buffer_size 16k;", "proxy_buffers 8 16k;"]
    return lines
  }

  private func browserFields(explained: Bool) -> [String] {
    let words = [
      "# Requests of browsers get no token. If nginx itself decides which pages may call, remove these lines, here",
      "# and below.",
    ]
    let fields = EngineSettings.browserFields.map { "proxy_set_header \($0) \(Self.sent($0));" }
    return explained ? words + fields : fields
  }

  private static func sent(_ field: String) -> String { "$http_\(variable(field))" }

  private static func variable(_ field: String) -> String { field.lowercased().replacing("-", with: "_") }
}
