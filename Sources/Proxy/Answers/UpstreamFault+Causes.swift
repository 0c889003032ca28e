// The upstream's fault of each failure, and its words in `/status`.

internal import HTTP
internal import HTTPClient
internal import Platform
internal import Telemetry

extension UpstreamFault {
  init(_ error: UpstreamError) {
    switch error {
    case .connect(.unresolved): self = .unresolved
    case .connect(.forbiddenAddress): self = .forbiddenAddress
    case .connect(.refused): self = .connectionRefused
    case .connect(.timedOut), .timedOut: self = .connectTimedOut
    case .tls: self = .tls
    case .proxyUnreachable, .proxy: self = .proxy
    case .withoutHTTP2: self = .http2
    case .withoutWebSockets: self = .webSocket
    }
  }

  init(_ error: ResponseHeadError) {
    switch error {
    case .statusLine, .statusCode, .reason, .lineEnd: self = .statusLine
    case .versionUnsupported: self = .version
    case .field(.tooMany), .headTooLarge: self = .headTooLarge
    case .field: self = .fieldLine
    case .connectionOptions: self = .connectionOptions
    }
  }

  init(_ error: FramingError) {
    switch error {
    case .contentLengthInvalid, .contentLengthRepeated: self = .contentLength
    case .bothLengths, .transferEncodingInHTTP10, .transferEncodingInvalid, .transferCodingUnknown:
      self = .transferEncoding
    }
  }

  init(_ error: ContentError) {
    switch error {
    case .chunk: self = .chunkedCoding
    case .trailer: self = .trailers
    }
  }

  /// The fault of an answer whose content broke off; nil if the caller broke it off.
  init?(_ failure: BodyPump.Failure) {
    switch failure {
    case .sourceEnded, .source(.truncated): self = .cutShort
    case .source(.reset), .source(.system): self = .reset
    case .source(.tls): self = .tls
    case .content(let error): self = UpstreamFault(error)
    case .sink, .tooLarge: return nil
    }
  }

  /// The words for a fault of a connected upstream.
  var words: String {
    switch self {
    case .unresolved, .forbiddenAddress, .connectionRefused, .connectTimedOut, .proxy: "cannot be reached"
    case .tls: "broke off TLS"
    case .closed: "closed the connection before it had answered"
    case .timedOut: "did not answer in time"
    case .statusLine: "answered without a status line"
    case .version: "answered in another version than HTTP/1"
    case .fieldLine: "answered with a field line that is none"
    case .headTooLarge: "answered with a head over the limits"
    case .connectionOptions: "answered with a Connection field that is no list of options"
    case .contentLength: "answered with two lengths, or one that is no number"
    case .transferEncoding: "answered with a Transfer-Encoding that is not 'chunked' alone"
    case .unaskedSwitch: "switched to a protocol that was not asked for"
    case .webSocket: "makes no WebSocket of a request that asks for one"
    case .interimAnswers: "answered with one interim answer after the other"
    case .cutShort: "ended in the middle of an answer"
    case .reset: "reset the connection in the middle of an answer"
    case .chunkedCoding: "broke the chunked coding in the middle of an answer"
    case .trailers: "ended an answer with trailer fields that are none"
    case .stalled: "stopped in the middle of an answer"
    case .http2: "broke the rules of HTTP/2, or does not speak it"
    }
  }
}

extension ExchangeFailure {
  /// The upstream's fault; nil if the failure is another's.
  var upstreamFault: UpstreamFault? {
    switch self {
    case .unreachable(let error): UpstreamFault(error)
    case .delivery(.upstreamClosed): .closed
    case .delivery(.upstreamMalformed(let fault)): fault
    case .delivery(.upstreamStalled): .timedOut
    default: nil
    }
  }
}
