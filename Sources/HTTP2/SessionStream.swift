// One stream of a connection, as two runs of HTTP/1.1 bytes: the message that comes in and the one that goes out. A
// session makes them from frames, and frames of them.

package import Bytes
internal import HTTP

/// A request and its response. Confined to the loop of its session.
package final class SessionStream {
  /// The events since the owner looked.
  package struct Changes: OptionSet {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The head of a caller's request is there.
    package static let began = Changes(rawValue: 1)
    /// There is more of the incoming message to receive.
    package static let readable = Changes(rawValue: 2)
    /// There is room for more of the outgoing message, or its last frame was written.
    package static let writable = Changes(rawValue: 4)
    /// The stream was reset, or its session is over.
    package static let broken = Changes(rawValue: 8)
  }

  /// 0 before the request's head is complete.
  package internal(set) var id: Int32
  /// Bytes that come before the incoming content: the head, and interim ones before it.
  var head = ByteBuffer(capacity: 1024)
  /// True if the head is larger than the limit, and was not kept.
  package private(set) var isHeadTooLarge: Bool
  var changes: Changes = []
  /// True if the final head of a response has arrived.
  var hasHead = false
  var incoming: StreamContent
  let outgoing: StreamOutput
  /// True if the request asks that the stream carry another protocol (RFC 8441).
  package internal(set) var isTunnel: Bool
  /// True if the stream was reset, or its session is over.
  package internal(set) var isBroken = false
  /// True if the last frame of the outgoing message was written to the connection.
  package internal(set) var isSent = false
  /// True if the frames of the outgoing message wait for more of it.
  var isDeferred = false
  /// True if it counts towards the limit of streams.
  var isCounted = true
  /// True if the stream was reset by its owner's wish.
  var isGivenUp = false
  /// True if the peer ends the stream by a reset as a matter of course: that is no abuse.
  package var mayBeReset = false
  /// True if the owner has ended the stream: what arrives for it is dropped.
  var isFinished = false
  /// The remaining limits within which the peer's further content is dropped, and the code of the reset behind them;
  /// nil if the stream is not about to be reset.
  var lingering: (bytes: Int, until: UInt64, code: UInt32)?
  /// The stream of a request that goes to an upstream: the progress of its response, and its end.
  package internal(set) var answer = AnswerProgress()

  init(
    _ id: Int32, isHeadTooLarge: Bool = false, length: UInt64?, isTunnel: Bool = false, _ outgoing: StreamOutput
  ) {
    self.id = id
    self.isHeadTooLarge = isHeadTooLarge
    self.isTunnel = isTunnel
    self.outgoing = outgoing
    incoming = StreamContent(length: length, isTunnel: isTunnel)
  }

  /// Begins another request in the place of the one before, which its owner has finished: nothing of that is left, but
  /// memory.
  func begin(_ id: Int32, isHeadTooLarge: Bool, length: UInt64?) {
    self.id = id
    self.isHeadTooLarge = isHeadTooLarge
    head.removeAll()
    changes = []
    (hasHead, isBroken, isSent, isDeferred, isCounted) = (false, false, false, false, true)
    (isGivenUp, mayBeReset, isFinished, lingering) = (false, false, false, nil)
    answer = AnswerProgress()
    incoming.begin(length: length)
    outgoing.begin()
  }

  /// A stream whose buffers have grown beyond this is not used again.
  private static let grown = 32 * 1024

  /// True if its memory may be another stream's when this one is over.
  var mayBeginAgain: Bool {
    !isTunnel && changes.isEmpty && head.capacity + incoming.capacity + outgoing.capacity <= Self.grown
  }

  /// True if the connection has yet to get the rest of a message that is complete here.
  package var isOwed: Bool {
    if isSent || isBroken || isFinished { return false }
    return outgoing.hasHead ? !isDeferred || outgoing.waitingCount > 0 : outgoing.waitsBehindHead
  }

  /// Moves the head of the incoming message behind `bytes`.
  package func takeHead(into bytes: inout ByteBuffer) {
    head.withBytes { bytes.append($0) }
    head.removeAll()
  }

  /// Bytes of the outgoing message that were not given to frames.
  package var waitingCount: Int { outgoing.waitingCount }

  /// Bytes of the outgoing content that were given to frames.
  package var sentBytes: UInt64 { outgoing.sentBytes }
}
