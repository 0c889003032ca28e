// Reads the chunked transfer coding, without copying: it finds the content among the bytes received. `TrailerParser`
// reads the trailer section behind the last chunk.
//
//     chunked-body = *chunk last-chunk trailer-section CRLF                               (RFC 9112 §7.1)
//     chunk        = chunk-size [ chunk-ext ] CRLF chunk-data CRLF ; chunk-size = 1*HEXDIG
//     chunk-ext    = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] )
//     chunk-ext-val = token / quoted-string

import Bytes

/// The fault of bytes that are not the chunked coding.
public enum ChunkError: Error, Sendable, Hashable, CaseIterable {
  /// A chunk does not begin with hexadecimal digits, or something else follows them.
  case size
  /// A chunk of 2^63 bytes or more.
  case sizeOverflow
  /// A chunk extension is not `;name`, `;name=token` or `;name="text"`.
  case `extension`
  /// More bytes of extensions and leading zeros than any sender has use for: in front of one chunk, or over the message
  /// in proportion to its content.
  case extensionTooLong
  /// A line ends with LF alone, or a CR is not followed by LF.
  case lineEnd
  /// The data of a chunk is not followed by CRLF.
  case dataEnd
}

/// The step for the bytes at hand.
public enum ChunkedStep: Sendable, Hashable {
  /// All `consumed` bytes were framing. Drop them, and come back with more.
  case needsMore(consumed: Int)
  /// `count` bytes from `start` are content, what is before them is framing. Drop `start + count` bytes, and come back.
  case data(start: Int, count: Int)
  /// The last chunk's line ends behind `consumed` bytes. Drop them; the trailer section follows.
  case end(consumed: Int)
  /// The coding is broken; the end of the message is no longer known.
  case invalid(ChunkError)
}

/// Reads one message's chunked content. A value of a few words: make a new one per message.
public struct ChunkedDecoder: Sendable {
  private enum State: UInt8, Sendable {
    case sizeStart, size, beforeExtension, beforeName, name, afterName, beforeValue, token, quoted, escaped, afterQuote
    case afterValue, sizeLineFeed, data, dataReturn, dataLineFeed, ended
  }

  private var state = State.sizeStart
  /// Bytes of the current chunk that are still to come.
  public private(set) var remaining: UInt64 = 0
  // Bytes spent on extensions and leading zeros make us read without progress (RFC 9112 §7.1.1). Those in front of one
  // chunk are bounded. Over the message each chunk pays for some, a large one for more; only the unpaid rest adds up.
  private var overhead: Int32 = 0
  private var unpaid: Int32 = 0
  private static let maximumOverhead: Int32 = 8 * 1024
  private static let maximumUnpaid: Int32 = 16 * 1024
  /// Bytes that one chunk pays for, however small: a signature of 64 digits and its name.
  private static let paidPerChunk: Int32 = 128

  /// The rule for white space at the end of a size's line: an error, or removed, as RFC 9112 §5.1 demands of a proxy
  /// for the fields of responses. Old servers pad their sizes.
  public enum SpaceBehindSize: Sendable { case refused, removed }

  private let space: SpaceBehindSize

  /// A decoder at the first chunk.
  public init(_ space: SpaceBehindSize = .refused) { self.space = space }

  /// Continues from the first byte that was not dropped after the step before.
  public mutating func next(_ bytes: Span<UInt8>) -> ChunkedStep {
    var index = 0
    while true {
      if state == .data {
        let available = min(remaining, UInt64(bytes.count - index))
        if available == 0 { return .needsMore(consumed: index) }
        remaining -= available
        if remaining == 0 { state = .dataReturn }
        return .data(start: index, count: Int(available))
      }
      if state == .ended { return .end(consumed: index) }
      if index == bytes.count { return .needsMore(consumed: index) }
      if let error = advance(bytes[index]) { return .invalid(error) }
      index += 1
    }
  }

  // One byte of framing.
  private mutating func advance(_ byte: UInt8) -> ChunkError? {
    switch state {
    case .sizeStart, .size: return readSize(byte)
    case .sizeLineFeed:
      if byte != ASCII.lineFeed { return .lineEnd }
      state = remaining == 0 ? .ended : .data
      return settleOverhead()
    case .dataReturn:
      if byte != ASCII.carriageReturn { return .dataEnd }
      state = .dataLineFeed
      return nil
    case .dataLineFeed:
      if byte != ASCII.lineFeed { return .dataEnd }
      state = .sizeStart
      return nil
    case .data, .ended: return nil
    default:
      overhead += 1
      if overhead > Self.maximumOverhead { return .extensionTooLong }
      return readExtension(byte)
    }
  }

  // Two bytes of overhead for each byte of content, beside those that every chunk pays for.
  private mutating func settleOverhead() -> ChunkError? {
    let paid = Self.paidPerChunk + 2 * Int32(min(remaining, UInt64(Self.maximumOverhead)))
    unpaid = max(0, unpaid + overhead - paid)
    overhead = 0
    return unpaid > Self.maximumUnpaid ? .extensionTooLong : nil
  }

  private mutating func readSize(_ byte: UInt8) -> ChunkError? {
    if let digit = ASCII.hexadecimalValue(byte) {
      if remaining >= 1 << 59 { return .sizeOverflow }
      remaining = remaining << 4 | UInt64(digit)
      state = .size
      if remaining == 0 { overhead += 1 }
      return overhead > Self.maximumOverhead ? .extensionTooLong : nil
    }
    if state == .sizeStart { return .size }
    switch byte {
    case ASCII.carriageReturn: state = .sizeLineFeed
    case ASCII.semicolon: state = .beforeName
    case ASCII.space, ASCII.tab: state = .beforeExtension
    case ASCII.lineFeed: return .lineEnd
    default: return .size
    }
    return nil
  }

  private mutating func readExtension(_ byte: UInt8) -> ChunkError? {
    let isSpace = ByteClass.of(byte, ByteClass.whitespace)
    let isToken = ByteClass.of(byte, ByteClass.token)
    switch state {
    case .beforeExtension:
      // BWS is part of an extension: without a `;` behind it, it is not in the grammar.
      if byte == ASCII.semicolon {
        state = .beforeName
      } else if byte == ASCII.carriageReturn, space == .removed {
        state = .sizeLineFeed
      } else if !isSpace {
        return .size
      }
    case .beforeName:
      if isToken { state = .name } else if !isSpace { return fault(byte) }
    case .name:
      if byte == ASCII.equals { state = .beforeValue } else if !isToken { return afterPart(byte, space: .afterName) }
    case .afterName:
      if byte == ASCII.equals { state = .beforeValue } else { return afterSpace(byte) }
    case .beforeValue:
      if isToken {
        state = .token
      } else if byte == ASCII.quote {
        state = .quoted
      } else if !isSpace {
        return fault(byte)
      }
    case .token:
      if !isToken { return afterPart(byte, space: .afterValue) }
    case .afterQuote: return afterPart(byte, space: .afterValue)
    case .afterValue: return afterSpace(byte)
    case .quoted:
      if byte == ASCII.quote {
        state = .afterQuote
      } else if byte == ASCII.backslash {
        state = .escaped
      } else if !ByteClass.of(byte, ByteClass.value) {
        return fault(byte)
      }
    case .escaped:
      if !ByteClass.of(byte, ByteClass.value) { return fault(byte) }
      state = .quoted
    default: break
    }
    return nil
  }

  // Behind a name or a value.
  private mutating func afterPart(_ byte: UInt8, space: State) -> ChunkError? {
    switch byte {
    case ASCII.semicolon: state = .beforeName
    case ASCII.carriageReturn: state = .sizeLineFeed
    case ASCII.space, ASCII.tab: state = space
    default: return fault(byte)
    }
    return nil
  }

  // Behind white space: an extension follows, or the end of the line if the space is removed.
  private mutating func afterSpace(_ byte: UInt8) -> ChunkError? {
    if byte == ASCII.semicolon {
      state = .beforeName
    } else if byte == ASCII.carriageReturn, space == .removed {
      state = .sizeLineFeed
    } else if !ByteClass.of(byte, ByteClass.whitespace) {
      return fault(byte)
    }
    return nil
  }

  private func fault(_ byte: UInt8) -> ChunkError { byte == ASCII.lineFeed ? .lineEnd : .extension }
}
