// Which fault of an upstream stands for which failure, and how `/status` says it to people.

internal import HTTP
internal import HTTPClient
internal import Platform
internal import Telemetry

extension UpstreamFault {
  /// Why there was no connection.
  init(_ error: UpstreamError) {
    switch error {
    case .connect(.unresolved): self = .unresolved
    case .connect(.forbiddenAddress): self = .forbiddenAddress
    case .connect(.refused): self = .connectionRefused
    case .connect(.timedOut), .timedOut: self = .connectTimedOut
    case .connect(.handshake), .tls: self = .tls
    case .proxyUnreachable, .proxy: self = .proxy
    }
  }

  /// Why an answer's head is not acceptable.
  init(_ error: ResponseHeadError) {
    switch error {
    case .statusLine, .statusCode, .reason, .lineEnd: self = .statusLine
    case .versionUnsupported: self = .version
    case .field(.tooMany), .headTooLarge: self = .headTooLarge
    case .field: self = .fieldLine
    case .connectionOptions: self = .connectionOptions
    }
  }

  /// Why the end of an answer's content cannot be told.
  init(_ error: FramingError) {
    switch error {
    case .contentLengthInvalid, .contentLengthRepeated: self = .contentLength
    case .bothLengths, .transferEncodingInHTTP10, .transferEncodingInvalid, .transferCodingUnknown:
      self = .transferEncoding
    }
  }

  /// Why an answer's content is not acceptable.
  init(_ error: ContentError) {
    switch error {
    case .chunk: self = .chunkedCoding
    case .trailer: self = .trailers
    }
  }

  /// Why an answer's content broke off; nil where that was the caller's doing.
  init?(_ failure: BodyPump.Failure) {
    switch failure {
    case .sourceEnded, .source(.truncated): self = .cutShort
    case .source(.reset), .source(.system): self = .reset
    case .source(.tls): self = .tls
    case .content(let error): self = UpstreamFault(error)
    case .sink, .tooLarge: return nil
    }
  }

  /// What the upstream did, where it was connected to.
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
    case .interimAnswers: "answered with one interim answer after the other"
    case .cutShort: "ended in the middle of an answer"
    case .reset: "reset the connection in the middle of an answer"
    case .chunkedCoding: "broke the chunked coding in the middle of an answer"
    case .trailers: "ended an answer with trailer fields that are none"
    case .stalled: "stopped in the middle of an answer"
    }
  }
}

extension ExchangeFailure {
  /// What the upstream did wrong; nil where the failure is another's.
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
