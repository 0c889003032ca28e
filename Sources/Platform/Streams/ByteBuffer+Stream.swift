public import Bytes

extension ByteBuffer {
  /// Receives into the free part of the buffer.
  public mutating func receive(from stream: ByteStream) -> IOOutcome {
    var outcome = IOOutcome.wouldBlock
    _ = withWritableBytes { space in
      outcome = stream.receive(into: space)
      if case .moved(let count) = outcome { return count }
      return 0
    }
    return outcome
  }

  /// Sends from the front, and drops the sent bytes.
  public mutating func send(to stream: ByteStream, first limit: Int = .max) -> IOOutcome {
    let outcome = withReadableBytes { bytes in
      stream.send(limit < bytes.count ? UnsafeRawBufferPointer(rebasing: bytes[..<limit]) : bytes)
    }
    if case .moved(let count) = outcome { consume(count) }
    return outcome
  }
}
