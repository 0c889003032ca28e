import Bytes
import Configuration
import HTTP

/// Envoy in front: `ext_authz` for a token, and a script that reports a refused one. docs/engines.md explains it.
struct EnvoyConfiguration {
  let settings: EngineSettings
  /// One of Envoy's forms.
  let engine: Engine

  /// True if a filter of the API's cluster reports a refused token, and the request is sent again.
  var retries: Bool { [.envoy, .envoyGRPC, .envoyExtProc].contains(engine) }

  /// True if Envoy calls with gRPC.
  var calls: Bool { [.envoyGRPC, .envoyExtProc].contains(engine) }

  /// True if that call asks for each attempt, and reports a refusal.
  var processes: Bool { engine == .envoyExtProc }

  /// True if a filter of a listener reports a refused token, and a listener before that one sends the request again.
  private var isDouble: Bool { engine == .envoyTwoListeners }

  /// True if a refused token is reported.
  private var hasReports: Bool { engine != .envoyExtAuthz }

  var text: String {
    layout(
      """
      # Envoy in front, with the tokens of the routes. Written by 'bearer-proxy engine \(engine.rawValue)'.
      \(summary)
      static_resources:
        listeners:
          \(isDouble ? [outerListener, tokenListener] : [tokenListener])
        clusters:
          \(tokenSource)
          \(isDouble ? Self.innerCluster : "")
          \(settings.routes.map(cluster))

      """)
  }

  private var summary: String {
    switch engine {
    case .envoyExtAuthz:
      "# ext_authz asks for a token. A token that the API refuses stays in use: envoy.yaml reports and replaces it."
    case .envoy:
      """
      # ext_authz asks for a token. A token that the API refuses is replaced once, and the request is sent again with
      # its body.
      """
    case .envoyGRPC:
      """
      # ext_authz asks for a token with gRPC. A token that the API refuses is replaced once, and the request is sent
      # again with its body.
      """
    case .envoyExtProc:
      """
      # ext_proc asks for a token for each attempt, in the chain of the API's cluster. A token that the API refuses is
      # replaced once, and the request is sent again with its body.
      """
    default:
      """
      # ext_authz asks for a token. A token that the API refuses is replaced once: one listener reports it, and the
      # other one sends the request again with its body. For an Envoy whose clusters can have no filters.
      """
    }
  }

  // MARK: Listeners

  static let type = "type.googleapis.com/envoy.extensions"

  private static let programs = """
    # CHANGE: where your programs call.
    socket_address: {address: 127.0.0.1, port_value: 8000}
    """

  /// The rules for requests of programs.
  private static let edge = """
    # Callers cannot set fields that Envoy sets, and a path has one meaning.
    use_remote_address: true
    normalize_path: true
    merge_slashes: true
    path_with_escaped_slashes_action: REJECT_REQUEST
    # APIs may read x_original_url as x-original-url.
    common_http_protocol_options: {headers_with_underscores_action: DROP_HEADER}
    """

  private static let retry = """
    retry_policy:
      retry_on: retriable-headers
      retriable_headers: [{name: x-bearer-again}]
    """

  private static func upgrades(_ routes: [RouteSettings]) -> String {
    routes.contains { !$0.upgrades.isEmpty } ? "upgrade_configs: [{upgrade_type: websocket}]" : ""
  }

  private static let router = """
    - name: envoy.filters.http.router
      typed_config:
        "@type": \(type).filters.http.router.v3.Router
    """

  private var outerListener: String {
    let rest = layout(
      """
      \(Self.edge)
      http_filters:
        \(Self.router)
      route_config:
        virtual_hosts:
          - name: all
            domains: ["*"]
            routes:
              - match: {prefix: /}
                route:
                  cluster: tokens
                  timeout: 0s
                  \(Self.upgrades(settings.routes))
                  \(Self.retry)
                response_headers_to_remove: [x-bearer-again]
      """)
    return Self.listener("programs", at: Self.programs, rest)
  }

  private var tokenListener: String {
    let unavailable = """
      # ext_authz passes no status from 500 up on whole. It gets 429 if the provider is away.
      local_reply_config:
        mappers:
          - filter:
              and_filter:
                filters:
                  - response_flag_filter: {flags: [UAEX]}
                  - status_code_filter:
                      comparison: {op: EQ, value: {default_value: 429, runtime_key: unused}}
            status_code: 503
      """
    let rest = layout(
      """
      \(isDouble ? "skip_xff_append: true" : Self.edge)
      \(calls ? "" : unavailable)
      http_filters:
        \(hasReports && !tokenFields.isEmpty ? keptFields : "")
        \(processes ? "" : calls ? call : externalAuthorization)
        \(isDouble ? script : "")
        \(Self.router)
      route_config:
        virtual_hosts:
          \(settings.hosts.map(virtualHost))
      """)
    let inner = """
      # CHANGE: a folder that only Envoy can use.
      pipe: {path: /run/envoy/tokens.sock, mode: 0600}
      """
    return Self.listener(isDouble ? "tokens" : "programs", at: isDouble ? inner : Self.programs, rest)
  }

  private static func listener(_ name: String, at address: String, _ rest: String) -> String {
    layout(
      """
      - name: \(name)
        address:
          \(address)
        filter_chains:
          - filters:
              - name: envoy.filters.network.http_connection_manager
                typed_config:
                  "@type": \(type).filters.network.http_connection_manager.v3.HttpConnectionManager
                  stat_prefix: \(name)
                  \(rest)
      """)
  }

  // MARK: Filters

  /// Fields of callers that decide about the token.
  private var tokenFields: [String] { settings.tokenFields.map { $0.lowercased() } }

  private var externalAuthorization: String {
    let sent = ["accept"] + EngineSettings.browserFields.map { $0.lowercased() } + tokenFields
    return layout(
      """
      - name: envoy.filters.http.ext_authz
        typed_config:
          "@type": \(Self.type).filters.http.ext_authz.v3.ExtAuthz
          status_on_error: {code: ServiceUnavailable}
          # Fields of the caller that go along. Requests of browsers get no token. If Envoy itself decides
          # which pages may call, remove origin and sec-fetch-….
          allowed_headers:
            patterns:
              \(sent.map { "- exact: \($0)" })
          # Each route names its token below. One that does not gets 404.
          http_service:
            server_uri: {uri: "\(settings.scheme)://localhost", cluster: bearer_proxy, timeout: 30s}
            path_prefix: /.bearer/authorize/-
      """)
  }

  /// The line with the secret of the listener; empty if it has none.
  private var secret: String {
    settings.secretField.map {
      "# CHANGE: the secret of callers.header.\n- {key: \($0.lowercased()), value: SECRET}"
    } ?? ""
  }

  /// The question of an attempt, in the chain of the API's cluster.
  func processor(_ route: RouteSettings) -> String {
    layout(
      """
      - name: envoy.filters.http.ext_proc
        typed_config:
          "@type": \(Self.type).filters.http.ext_proc.v3.ExternalProcessor
          status_on_error: {code: ServiceUnavailable}
          message_timeout: 30s
          grpc_service:
            envoy_grpc: {cluster_name: bearer_proxy, authority: localhost}
            initial_metadata:
              - {key: x-bearer-route, value: \(route.name.quoted)}
              \(secret)
          # All fields go along. Requests of browsers get no token. If Envoy itself decides which pages may call, add
          # forward_rules with disallowed_headers: origin and sec-fetch-….
          processing_mode: {request_header_mode: SEND, response_header_mode: \(reports(route) ? "SEND" : "SKIP")}
          # The fields of the caller before the first attempt, and the token in the place of a refused one.
          metadata_options:
            forwarding_namespaces: {untyped: [bearer_proxy.caller, bearer_proxy.again]}
            receiving_namespaces: {untyped: [bearer_proxy.again]}
      """)
  }

  /// The same question as a call.
  private var call: String {
    layout(
      """
      - name: envoy.filters.http.ext_authz
        typed_config:
          "@type": \(Self.type).filters.http.ext_authz.v3.ExtAuthz
          transport_api_version: V3
          status_on_error: {code: ServiceUnavailable}
          # All fields of the caller go along. Requests of browsers get no token. If Envoy itself decides which
          # pages may call, add disallowed_headers with origin and sec-fetch-….
          # Each route names its token below. Of one that does not, method, host and path choose it.
          grpc_service:
            envoy_grpc: {cluster_name: bearer_proxy, authority: localhost}
            timeout: 30s
            \(secret.isEmpty ? "" : "initial_metadata:\n  \(secret.replacing("\n", with: "\n  "))")
      """)
  }

  private var keptFields: String {
    layout(
      """
      # Fields of the caller that a report of a refused token repeats.
      - name: envoy.filters.http.header_to_metadata
        typed_config:
          "@type": \(Self.type).filters.http.header_to_metadata.v3.Config
          request_rules:
            \(tokenFields.map {
              "- header: \($0)\n  on_header_present: {metadata_namespace: bearer_proxy.caller, key: \($0)}"
            })
      """)
  }

  var script: String {
    let secret = settings.secretField.map {
      "-- CHANGE: the secret of callers.header.\nfields[\($0.lowercased().quoted)] = \"SECRET\""
    }
    let source = layout(
      """
      function envoy_on_request(handle)
        local held = handle:streamInfo():dynamicMetadata():get("bearer_proxy.again")
        if held then handle:headers():replace("authorization", held["token"]) end
      end

      function envoy_on_response(handle)
        local headers, metadata = handle:headers(), handle:streamInfo():dynamicMetadata()
        local given = metadata:get("envoy.filters.http.ext_authz")
        local status = headers:get(":status")
        headers:remove("x-bearer-again")
        if status ~= "401" and status ~= "403" then return end
        if not given or metadata:get("bearer_proxy.again") then return end
        local fields = metadata:get("bearer_proxy.caller") or {}
        \(secret ?? "")
        fields[":method"] = "GET"
        fields[":path"] = "/.bearer/authorize/" .. handle:metadata():get("route")
        fields[":authority"] = "localhost"
        fields["x-bearer-refused"] = given["authorization"]
        fields["x-bearer-status"] = status
        fields["x-bearer-challenge"] = {}
        for index = 1, headers:getNumValues("www-authenticate") do
          fields["x-bearer-challenge"][index] = headers:getAtIndex("www-authenticate", index - 1)
        end
        local answer = handle:httpCall("bearer_proxy", fields, nil, 30000)
        if answer[":status"] == "200" and answer["authorization"] ~= given["authorization"] then
          metadata = handle:streamInfo():dynamicMetadata()
          metadata:set("bearer_proxy.again", "token", answer["authorization"])
          handle:headers():add("x-bearer-again", "yes")
        end
      end
      """)
    return layout(
      """
      - name: envoy.filters.http.lua
        typed_config:
          "@type": \(Self.type).filters.http.lua.v3.Lua
          default_source_code:
            inline_string: |
              \(source)
      """)
  }

  // MARK: Routes

  private func virtualHost(_ host: String?) -> String {
    let domains = (host.map { [$0] } ?? EngineSettings.names).flatMap { [$0, "\($0):*"] }
    return layout(
      """
      - name: \((host ?? "all").quoted)
        # CHANGE: the names by which your programs call.
        # A web page can give its own name this address (DNS rebinding).
        domains: [\(domains.map(\.quoted).joined(separator: ", "))]
        routes:
          \(settings.routes(of: host).map(route))
      """)
  }

  /// True if a refusal is reported: there may be another token.
  private func reports(_ route: RouteSettings) -> Bool { hasReports && route.token.fixed == nil }

  private func route(_ route: RouteSettings) -> String {
    let upstream = route.upstream.value
    let question = layout(
      """
      http_service:
        server_uri: {uri: "\(settings.scheme)://localhost", cluster: bearer_proxy, timeout: 30s}
        path_prefix: \("/.bearer/authorize/\(route.name)".quoted)
        authorization_request:
          # These replace fields of the caller.
          headers_to_add:
            - {key: x-original-method, value: "%REQ(:method)%"}
            - {key: x-original-uri, value: "%REQ(:path)%"}
            - {key: x-bearer-unavailable, value: "429"}
            \(secret)
        authorization_response:
          allowed_upstream_headers: {patterns: [{exact: \(route.credentialField.lowercased())}]}
          \(reports(route) ? "dynamic_metadata_from_headers: {patterns: [{exact: authorization}]}" : "")
      """)
    let script = "metadata: {filter_metadata: {envoy.filters.http.lua: {route: \(route.name.quoted)}}}"
    let extensions = "context_extensions: {route: \(route.name.quoted)\(reports(route) ? ", metadata: token" : "")}"
    let authorization = layout(
      """
      typed_per_filter_config:
        envoy.filters.http.ext_authz:
          "@type": \(Self.type).filters.http.ext_authz.v3.ExtAuthzPerRoute
          check_settings:
            \(calls ? extensions : question)
      """)
    return layout(
      """
      - match: {prefix: \(route.path.quoted)}
        route:
          cluster: \(route.word)
          prefix_rewrite: \(upstream.target.quoted)
          \(route.preserveHost ? "" : "host_rewrite_literal: \(upstream.authority.quoted)")
          timeout: 0s
          \(Self.upgrades([route]))
          \(retries ? Self.retry : "")
        # Fields that APIs may take for path, host or method, or that chose the token.
        request_headers_to_remove:
          \(route.removedFields.map { "- \($0)" })
        \(retries ? "response_headers_to_remove: [x-bearer-again]" : "")
        \(!hasReports || processes ? "" : script)
        \(processes ? "" : authorization)
      """)
  }
}
