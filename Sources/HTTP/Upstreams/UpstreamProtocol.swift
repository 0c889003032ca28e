/// The versions of HTTP for an upstream.
package enum UpstreamProtocol: String, Sendable, Hashable, CaseIterable {
  /// HTTP/2 if a TLS upstream chooses it, else HTTP/1.1.
  case auto
  case http1
  /// HTTP/2 alone: without TLS by prior knowledge (RFC 9113 §3.3).
  case http2
}
