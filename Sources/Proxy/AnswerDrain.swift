// Owns reading past an answer that nobody wants, so that its connection can be used again. It does not wait: what is not there yet is
// not worth a connection.

internal import HTTP
internal import HTTPClient
internal import Network

/// Drops one answer's content.
struct AnswerDrain {
  private enum Rest {
    case fixed(UInt64)
    case chunked(ChunkedDecoder)
    case trailers
    case finished
    case untilClose
  }

  private var rest: Rest

  /// Bytes received at most.
  private static let limit = 64 * 1024

  init(_ framing: BodyFraming) {
    switch framing {
    case .none: rest = .finished
    case .fixed(let count): rest = count == 0 ? .finished : .fixed(count)
    case .chunked: rest = .chunked(ChunkedDecoder())
    case .untilClose: rest = .untilClose
    }
  }

  /// Whether the content ended within what has arrived. `input` begins with its first byte, and is left at what follows it.
  mutating func finish(
    _ input: inout ByteBuffer, from stream: ByteStream, _ trailers: inout TrailerParser, _ limits: HeadLimits
  ) -> Bool {
    var left = Self.limit
    while true {
      switch drop(&input, &trailers, limits) {
      case .some(let isClean): return isClean
      case .none: break
      }
      guard left > 0 else { return false }
      input.reserve(4096)
      guard case .moved(let count) = input.receive(from: stream) else { return false }
      left -= count
    }
  }

  /// Drops what is there: true where that was all of it, false where it is broken or has no end, nil where more is needed.
  private mutating func drop(_ input: inout ByteBuffer, _ trailers: inout TrailerParser, _ limits: HeadLimits) -> Bool?
  {
    while true {
      switch rest {
      case .finished: return true
      case .untilClose: return false
      case .fixed(let count):
        let dropped = min(count, UInt64(input.count))
        input.consume(Int(dropped))
        guard dropped == count else {
          rest = .fixed(count - dropped)
          return nil
        }
        rest = .finished
      case .chunked(var decoder):
        let step = decoder.next(input.bytes)
        rest = .chunked(decoder)
        switch step {
        case .needsMore(let consumed):
          input.consume(consumed)
          return nil
        case .data(let start, let count): input.consume(start + count)
        case .end(let consumed):
          input.consume(consumed)
          trailers.reset()
          rest = .trailers
        case .invalid: return false
        }
      case .trailers:
        switch trailers.parse(input.bytes, limits: limits) {
        case .needsMore: return nil
        case .invalid: return false
        case .complete(let byteCount):
          input.consume(byteCount)
          rest = .finished
        }
      }
    }
  }
}
