// The parts of other proxies' configurations that `engine` prints.

import FoundationEssentials
import HTTP
import TestSupport
import Testing

@testable import Configuration
@testable import bearer_proxy

@Suite struct EngineCommandTests {
  private static func recipe(_ file: String) throws -> String {
    try String(contentsOfFile: testsDirectory + "/../config/recipes/engines/\(file)", encoding: .utf8)
  }

  private static func settings(_ file: String, _ changes: [Change] = []) throws -> Settings {
    var text = try recipe(file)
    for change in changes {
      try #require(text.contains(change.from))
      text = text.replacing(change.from, with: change.to)
    }
    return try Settings.decode(
      yaml: Array(text.utf8), file: "proxies.yaml", environment: [:],
      files: FileAccess(read: { _, _ throws(UnreadableFile) in Array("contents-of-a-file\n".utf8) }))
  }

  private static func part(
    _ engine: Engine, of file: String = "proxies.yaml", _ changes: [Change] = []
  ) throws -> String {
    let settings = try settings(file, changes)
    return engine.text(
      EngineSettings(listener: settings.listeners[0], routes: settings.routes, defaultTrust: EngineCommand.systemTrust))
  }

  private typealias Change = (from: String, to: String)
  private static let choice: Change = (
    "as: application, ", "as: application, choice: {field: X-Tenant, values: {b: {tenant: fabrikam.example}}}, "
  )
  /// A listener at an address, with a secret.
  private static let ownListener: [Change] = [
    ("unix:/run/bearer-proxy/tokens.sock", "127.0.0.1:8085"),
    ("unix: {uids: [33]}", "header: {name: X-Proxy-Key, value_file: key}"),
  ]
  /// A route with another name and upstream, a host of its own and a choice.
  private static let otherRoute: [Change] = [
    ("name: orders\n", "name: or-ders.2\n    host: api.example\n    preserve_host: true\n"),
    ("https://orders.example/api/", "http://127.0.0.1:81/"), choice,
  ]

  @Test(
    arguments: [
      (Engine.nginx, "proxies.yaml", "nginx.conf"), (.envoy, "proxies.yaml", "envoy.yaml"),
      (.envoyExtAuthz, "proxies.yaml", "envoy-ext-authz.yaml"), (.envoyGRPC, "proxies.yaml", "envoy-grpc.yaml"),
      (.envoyExtProc, "proxies.yaml", "envoy-ext-proc.yaml"),
      (.envoyTwoListeners, "proxies.yaml", "envoy-two-listeners.yaml"), (.caddy, "proxies.yaml", "Caddyfile"),
      (.haproxy, "proxies.yaml", "haproxy.cfg"), (.haproxyLua, "proxies.yaml", "bearer.lua"),
      (.traefik, "proxies-tcp.yaml", "traefik.yaml"),
    ])
  func `each recipe is what the command prints`(engine: Engine, configuration: String, file: String) throws {
    #expect(
      try Self.part(engine, of: configuration) == Self.recipe(file),
      "bearer-proxy engine \(engine.rawValue) -c \(configuration) > \(file)")
  }

  @Test(arguments: ["istio.yaml", "gateway-api.yaml"])
  func `the files of a mesh remove the same fields`(file: String) throws {
    let text = try String(contentsOfFile: testsDirectory + "/../deploy/kubernetes/tokens/\(file)", encoding: .utf8)
    let names = TargetOverride.names.texts
    #expect(names.filter { !text.contains(" - \($0)\n") } == [])
    // As many as the backend's and the rule's filter of the Gateway API can name.
    #expect(names.count <= 32)
  }

  @Test(
    arguments: [
      (layout("a:\n  \("b\nc")\nd"), "a:\n  b\n  c\nd"), (layout("a\n  \("")\nb\n  \("")"), "a\nb"),
      (layout("- \("a\n\nb")"), "- a\n\nb"), (layout("  \(["a", "b"])!\n"), "  a\n  b!\n"),
      (layout("  x\("")\n  \("")y\n"), "  x\n  y\n"), (layout("  \("")\("z")"), "  z"),
    ])
  func `a value of several lines keeps its place, and an empty one leaves no line`(text: String, expected: String) {
    #expect(text == expected)
  }

  @Test func `Envoy's part follows the listener and the route`() throws {
    let text = try Self.part(.envoy, Self.ownListener + Self.otherRoute)
    for line in [
      #"domains: ["api.example", "api.example:*"]"#, "- exact: x-tenant", #"fields["x-proxy-key"] = "SECRET""#,
      "on_header_present: {metadata_namespace: bearer_proxy.caller, key: x-tenant}", "cluster: or_ders_2",
      "- {key: x-proxy-key, value: SECRET}", #"path_prefix: "/.bearer/authorize/or-ders.2""#,
      #"- endpoint: {address: {socket_address: {address: "127.0.0.1", port_value: 8085}}}"#,
    ] {
      #expect(text.contains("  \(line)\n"), "\(line)")
    }
    #expect(!text.contains("transport_socket") && !text.contains("host_rewrite"))
  }

  @Test(
    arguments: [
      (Engine.caddy, "copy_headers X-API-Key", "orders_again"),
      (.haproxy, "http-request lua.bearer orders x-api-key", "bearer_refused"),
      (.envoy, "allowed_upstream_headers: {patterns: [{exact: x-api-key}]}", "dynamic_metadata_from_headers"),
      (.nginx, "auth_request_set $orders_bearer $upstream_http_x_api_key;", "orders_refused"),
    ])
  func `a route with a key names its field, and reports no refusal`(
    engine: Engine, line: String, report: String
  ) throws {
    let text = try Self.part(
      engine,
      [
        ("    application: contoso\n", ""),
        (
          #"token: {as: application, scopes: ["api://orders/.default"]}"#,
          "token: {header: X-API-Key, value_file: /run/key}"
        ),
      ])
    #expect(text.contains("\(line)\n"))
    #expect(!text.contains(report))
  }

  @Test(
    arguments: [
      (Engine.nginx, [#"proxy_set_header x-http-method "";"#, #"proxy_set_header x-tenant "";"#]),
      (.nginx, ["proxy_ssl_verify on;", "proxy_ssl_name localhost;"]),
      (.haproxy, ["http-request del-header x-http-method", "httpclient.ssl.ca-file /etc/haproxy/bearer-proxy-ca.pem"]),
      (.caddy, ["header_up -x-http-method", "header_up -x-tenant"]), (.envoy, ["- x-http-method", "- x-tenant"]),
      (.traefik, ["x-http-method: \"\"", "x_tenant: \"\"", "x-method_override: \"\""]),
    ])
  func `a limit of methods, a choice and TLS have their lines`(engine: Engine, lines: [String]) throws {
    let text = try Self.part(
      engine, of: "proxies-tcp.yaml",
      [
        ("path: /orders/", "path: /orders/\n    methods: [GET]"),
        ("    callers:", "    tls: {certificate_file: /run/a.pem, key_file: /run/a.key}\n    callers:"),
        Self.choice,
      ])
    for line in lines { #expect(text.contains("  \(line)\n") || text.contains("\t\(line)\n"), "\(line)") }
  }

  @Test func `Envoy's call has the secret and the route, and needs a listener with HTTP 2`() throws {
    let text = try Self.part(.envoyGRPC, Self.ownListener)
    for line in [
      "initial_metadata:", "- {key: x-proxy-key, value: SECRET}",
      #"context_extensions: {route: "orders", metadata: token}"#,
      "envoy_grpc: {cluster_name: bearer_proxy, authority: localhost}",
      "explicit_http_config: {http2_protocol_options: {max_concurrent_streams: 100}}",
    ] {
      #expect(text.contains("  \(line)\n"), "\(line)")
    }
    #expect(!text.contains("http_service"))
    let old = try Self.settings(
      "proxies.yaml", [("    hand_out: proxies\n    callers", "    http2: false\n    hand_out: proxies\n    callers")])
    #expect(Engine.envoyGRPC.objection(to: old.listeners[0]) != nil)
    #expect(Engine.envoy.objection(to: old.listeners[0]) == nil)
  }

  @Test func `routes are words of their own in an engine's file`() throws {
    let text = try Self.part(.nginx, [("name: orders\n", "name: 3-scale\n")])
    #expect(text.contains("$route_3_scale_bearer") && text.contains("/.bearer/authorize/3-scale;"))
    let settings = try Self.settings("proxies.yaml", [("name: orders\n", "name: my-api\n")])
    let other = try Self.settings("proxies.yaml", [("name: orders\n", "name: my.api\n")])
    let part = EngineSettings(listener: settings.listeners[0], routes: settings.routes + other.routes, defaultTrust: "")
    #expect(part.sameWord.map { [$0.name, $1.name] } == ["my-api", "my.api"])
    #expect(EngineSettings(listener: settings.listeners[0], routes: settings.routes, defaultTrust: "").sameWord == nil)
  }

  @Test func `Traefik is asked at an address, and HAProxy shows no certificate`() throws {
    #expect(Engine.traefik.objection(to: try Self.settings("proxies.yaml").listeners[0]) != nil)
    #expect(Engine.traefik.objection(to: try Self.settings("proxies-tcp.yaml").listeners[0]) == nil)
    #expect(Engine.haproxy.objection(to: try Self.settings("proxies-tcp.yaml").listeners[0]) == nil)
  }

  @Test func `routes with longer paths come first`() throws {
    let text = try Self.part(
      .envoyExtAuthz,
      [
        (
          "routes:\n",
          """
          routes:
            - {name: all, hand_out: proxies, path: /, upstream: "https://a.example/", application: contoso,
               token: {as: application, scopes: ["a/.default"]}}

          """
        )
      ])
    let paths = text.components(separatedBy: "match: {prefix: ").dropFirst().map { $0.prefix { $0 != "}" } }
    #expect(paths == [#""/orders/""#, #""/""#])
  }

  @Test func `the part follows the listener and the route`() throws {
    let text = try Self.part(.nginx, Self.ownListener + Self.otherRoute + [("path: /orders/", "path: /or.ders/")])
    for line in [
      "server 127.0.0.1:8085;", #"proxy_set_header X-Proxy-Key "SECRET";"#, "server_name api.example;",
      "upstream or_ders_2_api {", "server 127.0.0.1:81;", "proxy_set_header Host $http_host;",
      "location = /.bearer/or-ders.2/again {", #"rewrite ^/or\.ders/(.*)$ /$1 break;"#,
      "proxy_pass http://or_ders_2_api/;",
      "proxy_set_header X-Tenant $http_x_tenant;",
    ] {
      #expect(text.contains("  \(line)\n") || text.contains("\n\(line)\n"), "\(line)")
    }
    #expect(!text.contains("proxy_ssl"))
    #expect(!text.contains("SECRET\";\n    SECRET"))
  }
}
