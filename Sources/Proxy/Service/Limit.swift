internal import HTTP
internal import HTTPClient
internal import Platform

/// A limit that requests can meet, by the name under which it is counted: the configuration's.
enum Limit: String, CaseIterable {
  case headBytes = "head_bytes"
  case targetBytes = "target_bytes"
  case fieldCount = "field_count"
  case bodyBytes = "body_bytes"
  case connections
  /// Frames of HTTP/2 that cost work and bring none.
  case http2Abuse = "http2_abuse"
  /// Connections in a handshake or with a part of a head.
  case unfinished
  case requestHead = "request_head"
  /// Time without a byte of a body.
  case idle
  /// Bytes of a body in a time.
  case callerRate = "caller_rate"
  case connect
  case responseHead = "response_head"
  case exchange

  /// The limit's position among the label's values.
  var row: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension ExchangeFailure {
  var limit: Limit? {
    switch self {
    case .head(.headTooLarge): .headBytes
    case .head(.targetTooLong): .targetBytes
    case .head(.field(.tooMany)): .fieldCount
    case .delivery(.tooLarge): .bodyBytes
    case .headStalled: .requestHead
    case .delivery(.contentStalled): .idle
    case .delivery(.contentTooSlow): .callerRate
    case .unreachable(.timedOut), .unreachable(.connect(.timedOut)): .connect
    case .delivery(.upstreamStalled): .responseHead
    case .delivery(.exchangeTimedOut): .exchange
    default: nil
    }
  }
}
