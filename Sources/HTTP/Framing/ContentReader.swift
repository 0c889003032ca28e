// Reads one message's content of any framing, without copying: it finds the content among the bytes received, and the
// end of the message. It knows neither sockets nor the content's use.

import Bytes

/// The step for the bytes at hand.
@usableFromInline
package enum ContentStep: Sendable, Hashable {
  /// All `consumed` bytes were framing. Drop them, and come back with more.
  case needsMore(consumed: Int)
  /// `count` bytes from `start` are content, what is before them is framing. Drop `start + count` bytes, and come back.
  case data(start: Int, count: Int)
  /// The content is complete. Drop `consumed` bytes, and come back: a trailer section follows.
  case lastChunk(consumed: Int)
  /// The message ends behind `consumed` bytes. Behind a last chunk they are the trailer section, whose fields the
  /// parser has.
  case end(consumed: Int)
  /// The end of the message is no longer known.
  case invalid(ContentError)
}

/// The fault of bytes that are not the announced content.
@usableFromInline
package enum ContentError: Error, Sendable, Hashable {
  case chunk(ChunkError)
  case trailer(TrailerError)
}

/// Reads one message's content. A value of a few words: make a new one per message.
@usableFromInline
package struct ContentReader: Sendable {
  @usableFromInline
  enum Rest: Sendable {
    case fixed(UInt64)
    case chunked(ChunkedDecoder)
    case trailers
    case untilClose
    case nothing
  }

  @usableFromInline var rest: Rest

  /// A reader at the first byte behind a head. `space`: behind the sizes of chunks.
  package init(_ framing: BodyFraming, _ space: ChunkedDecoder.SpaceBehindSize = .refused) {
    switch framing {
    case .none: rest = .nothing
    case .fixed(let count): rest = count == 0 ? .nothing : .fixed(count)
    case .chunked: rest = .chunked(ChunkedDecoder(space))
    case .untilClose: rest = .untilClose
    }
  }

  /// True if the message is over.
  @inlinable package var isAtEnd: Bool { if case .nothing = rest { true } else { false } }

  /// Bytes of content that are still to come; nil if their number is not known.
  @inlinable package var remaining: UInt64? { if case .fixed(let count) = rest { count } else { nil } }

  /// Reads on from the first byte that was not dropped after the step before. A trailer section is left to `trailers`.
  @inlinable package mutating func next(
    _ bytes: Span<UInt8>, _ trailers: inout TrailerParser, _ limits: HeadLimits
  ) -> ContentStep {
    switch rest {
    case .nothing: return .end(consumed: 0)
    case _ where bytes.isEmpty: return .needsMore(consumed: 0)
    case .fixed(let count):
      let available = min(count, UInt64(bytes.count))
      rest = available == count ? .nothing : .fixed(count - available)
      return .data(start: 0, count: Int(available))
    case .untilClose: return .data(start: 0, count: bytes.count)
    case .chunked, .trailers: return nextOfChunks(bytes, &trailers, limits)
    }
  }

  @usableFromInline mutating func nextOfChunks(
    _ bytes: Span<UInt8>, _ trailers: inout TrailerParser, _ limits: HeadLimits
  ) -> ContentStep {
    guard case .chunked(var decoder) = rest else {
      switch trailers.parse(bytes, limits: limits) {
      case .needsMore: return .needsMore(consumed: 0)
      case .invalid(let error): return .invalid(.trailer(error))
      case .complete(let byteCount):
        rest = .nothing
        return .end(consumed: byteCount)
      }
    }
    let step = decoder.next(bytes)
    rest = .chunked(decoder)
    switch step {
    case .needsMore(let consumed): return .needsMore(consumed: consumed)
    case .data(let start, let count): return .data(start: start, count: count)
    case .invalid(let error): return .invalid(.chunk(error))
    case .end(let consumed):
      rest = .trailers
      trailers.reset()
      return .lastChunk(consumed: consumed)
    }
  }

  /// The sender has ended its direction, and all that it sent was read. Whether the message is complete.
  package mutating func senderEnded() -> Bool {
    if case .untilClose = rest { rest = .nothing }
    return isAtEnd
  }
}
