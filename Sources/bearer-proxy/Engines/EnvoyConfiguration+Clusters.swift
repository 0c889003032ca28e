// The clusters of Envoy's part: upstreams, and the proxy that hands tokens out.

import Bytes
import Configuration
import HTTP

extension EnvoyConfiguration {
  /// The proxy that hands tokens out.
  var tokenSource: String {
    let address =
      switch settings.listener.address.value.kind {
      case .unix(let path): "pipe: {path: \(path.quoted)}"
      case .ipv4(_, let port), .ipv6(_, let port, _):
        "socket_address: {address: \(settings.listener.address.value.host.quoted), port_value: \(port)}"
      }
    let certificate = """
      # CHANGE: a certificate that callers.certificate accepts.
      tls_certificates:
        - certificate_chain: {filename: /etc/envoy/proxy.pem}
          private_key: {filename: /etc/envoy/proxy.key}
      """
    let tls = Self.tls(
      name: "localhost", trust: "/etc/envoy/bearer-proxy-ca.pem", settings.needsCertificate ? certificate : "")
    let streams = "{max_concurrent_streams: \(settings.streams)}"
    let http2 = Self.protocols("explicit_http_config: {http2_protocol_options: \(streams)}")
    return Self.cluster(
      "bearer_proxy", "STATIC", address,
      layout(
        """
        \(processes ? Self.manyStreams : "")
        \(calls ? http2 : "")
        \(settings.listener.tls == nil ? "" : tls)
        """))
  }

  static let innerCluster = cluster(
    "tokens", "STATIC", "pipe: {path: /run/envoy/tokens.sock}", manyRetries + "\n" + protocols(sameAsCallers))

  private static let manyRetries = """
    # The default is 3, and a token is refused to all callers at once.
    circuit_breakers: {thresholds: [{max_retries: 1024}]}
    """

  private static let manyStreams = """
    # The default is 1024, and each request has a stream until the API responds.
    circuit_breakers: {thresholds: [{max_requests: 65536}]}
    """

  private static let sameAsCallers = """
    # Callers with HTTP/2, such as those of gRPC, need an API with HTTP/2.
    use_downstream_protocol_config: {http_protocol_options: {}, http2_protocol_options: {}}
    """

  func cluster(_ route: RouteSettings) -> String {
    let upstream = route.upstream.value
    let isSecured = upstream.scheme == .https
    let reporting = layout(
      """
      http_filters:
        \(processes ? processor(route) : script)
        - name: envoy.filters.http.upstream_codec
          typed_config:
            "@type": \(Self.type).filters.http.upstream_codec.v3.UpstreamCodec
      """)
    let certificate = route.tls.clientCertificate.map {
      """
      tls_certificates:
        - certificate_chain: {filename: \($0.certificateFile.value.quoted)}
          private_key: {filename: \($0.keyFile.value.quoted)}
      """
    }
    let protocols = layout(
      """
      \(isSecured ? "auto_config: {}" : Self.sameAsCallers)
      \(retries ? reporting : "")
      """)
    let tls = Self.tls(name: route.certificateName, trust: settings.trust(of: route), certificate ?? "")
    return Self.cluster(
      route.word, Self.named, "socket_address: {address: \(upstream.host.quoted), port_value: \(upstream.port)}",
      layout(
        """
        \(retries ? Self.manyRetries : "")
        \(Self.protocols(protocols))
        \(isSecured ? tls : "")
        """))
  }

  private static let named = """
    LOGICAL_DNS
    # The addresses of both families are tried. The default is IPv6 alone, if the name has such an address.
    dns_lookup_family: ALL
    """

  static func cluster(_ name: String, _ kind: String, _ address: String, _ rest: String) -> String {
    layout(
      """
      - name: \(name)
        type: \(kind)
        load_assignment:
          cluster_name: \(name)
          endpoints:
            - lb_endpoints:
                - endpoint: {address: {\(address)}}
        \(rest)
      """)
  }

  static func protocols(_ options: String) -> String {
    layout(
      """
      typed_extension_protocol_options:
        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
          "@type": \(type).upstreams.http.v3.HttpProtocolOptions
          \(options)
      """)
  }

  static func tls(name: String, trust: String, _ certificate: String) -> String {
    layout(
      """
      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": \(type).transport_sockets.tls.v3.UpstreamTlsContext
          \(IPAddress(name) == nil ? "sni: \(name.quoted)" : "")
          common_tls_context:
            \(certificate)
            validation_context:
              trusted_ca: {filename: \(trust.quoted)}
              match_typed_subject_alt_names:
                - {san_type: \(IPAddress(name) == nil ? "DNS" : "IP_ADDRESS"), matcher: {exact: \(name.quoted)}}
      """)
  }
}
