// The content of a message, as DATA frames bring it, in the framing of HTTP/1.1 that its head announces.

internal import Bytes
internal import HTTP

/// The part of a message's content that has arrived and was not taken yet.
final class StreamContent {
  private var content = ByteBuffer(capacity: 1)
  /// Bytes of framing that come before the content.
  private var framing = ByteBuffer(capacity: 1)
  /// The trailer section, with its end.
  private var trailers = ByteBuffer(capacity: 1)
  private var chunkLeft = 0
  private var isChunked: Bool
  private var isFramed = false
  /// True if the sender has sent all of it.
  private(set) var hasEnded = false

  /// Bytes that have arrived, and that the head has announced.
  private var received: UInt64 = 0
  private var length: UInt64?

  /// Content of a length, or in chunks without one.
  /// - Parameter isTunnel: bytes of another protocol, without a framing of ours.
  init(length: UInt64?, isTunnel: Bool = false) {
    self.length = length
    isChunked = length == nil && !isTunnel
    isFramed = !isChunked
  }

  /// Forgets the content before, and begins another one.
  func begin(length: UInt64?) {
    content.removeAll()
    framing.removeAll()
    trailers.removeAll()
    (chunkLeft, hasEnded, received, self.length) = (0, false, 0, length)
    isChunked = length == nil
    isFramed = !isChunked
  }

  /// Bytes of memory in its buffers.
  var capacity: Int { content.capacity + framing.capacity + trailers.capacity }

  /// True if no more content comes: it has ended, or all that was announced is there and only its end is not.
  var isComplete: Bool { hasEnded || received == length }

  /// Bytes of content that wait here.
  var waitingCount: Int { content.count }
  /// True if nothing can be taken now.
  var isEmpty: Bool { content.isEmpty && framing.isEmpty && !(hasEnded && !isFramed) }

  func append(_ bytes: Span<UInt8>) {
    received += UInt64(bytes.count)
    content.append(bytes)
  }

  /// Records the end.
  func end() { hasEnded = true }

  /// Records the end, behind the fields of a trailer section.
  func end(trailers fields: borrowing FieldBlock) {
    hasEnded = true
    if isChunked { fields.writeTrailers(into: &trailers) }
  }

  /// Moves bytes into `space`. Returns their number, and that of the bytes of content among them.
  func take(into space: UnsafeMutableRawBufferPointer) -> (count: Int, content: Int) {
    var (count, taken) = (0, 0)
    while count < space.count {
      if !framing.isEmpty {
        count += framing.move(to: UnsafeMutableRawBufferPointer(rebasing: space[count...]), atMost: .max)
      } else if chunkLeft > 0 {
        let moved = content.move(to: UnsafeMutableRawBufferPointer(rebasing: space[count...]), atMost: chunkLeft)
        (count, taken, chunkLeft) = (count + moved, taken + moved, chunkLeft - moved)
        if chunkLeft == 0, isChunked { framing.append("\r\n") }
      } else if !content.isEmpty {
        chunkLeft = content.count
        if isChunked {
          framing.append(hexadecimal: UInt64(chunkLeft))
          framing.append("\r\n")
        }
      } else if hasEnded, !isFramed {
        isFramed = true
        HeadWriter.lastChunk(into: &framing)
        if trailers.isEmpty { HeadWriter.end(into: &framing) } else { trailers.withBytes { framing.append($0) } }
      } else {
        break
      }
    }
    return (count, taken)
  }

  /// Drops what waits. Returns the bytes of content.
  func drop() -> Int {
    defer {
      content.removeAll()
      framing.removeAll()
      chunkLeft = 0
    }
    return content.count
  }
}

extension ByteBuffer {
  /// Copies bytes from the front into `space`, and drops them. Returns their number.
  mutating func move(to space: UnsafeMutableRawBufferPointer, atMost limit: Int) -> Int {
    let moved = min(count, space.count, limit)
    withReadableBytes { bytes in
      guard let source = bytes.baseAddress, let target = space.baseAddress else { return }
      target.copyMemory(from: source, byteCount: moved)
    }
    consume(moved)
    return moved
  }
}
