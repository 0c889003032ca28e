// One stream of a caller's connection, as two runs of HTTP/1.1 bytes: the request that comes out and the response that
// goes in. CallerSession makes them from frames, and frames of them.

package import Bytes
internal import HTTP

/// A request and its response. Confined to the loop of its session.
package final class CallerStream {
  /// The events since the owner looked.
  package struct Changes: OptionSet {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The head of the request is there.
    package static let began = Changes(rawValue: 1)
    /// There is more of the request to receive.
    package static let readable = Changes(rawValue: 2)
    /// There is room for more of the response, or its last frame was written.
    package static let writable = Changes(rawValue: 4)
    /// The stream was reset, or its session is over.
    package static let broken = Changes(rawValue: 8)
  }

  package let id: Int32
  @exclusivity(unchecked) var head = ByteBuffer(capacity: 1024)
  /// True if the head is larger than the limit, and was not kept.
  package let isHeadTooLarge: Bool
  @exclusivity(unchecked) var changes: Changes = []
  let request: StreamContent
  let response: StreamResponse
  /// True if the stream was reset, or its session is over.
  @exclusivity(unchecked) package internal(set) var isBroken = false
  /// True if the last frame of the response was written to the connection.
  @exclusivity(unchecked) package internal(set) var isAnswered = false
  /// True if the response's frames wait for more of it.
  @exclusivity(unchecked) var isDeferred = false
  /// True if it counts towards the limit of streams.
  @exclusivity(unchecked) var isCounted = true
  /// True if the stream was reset by its owner's wish.
  @exclusivity(unchecked) var isGivenUp = false
  /// True if the owner has ended the stream: what arrives for it is dropped.
  @exclusivity(unchecked) var isFinished = false

  init(_ id: Int32, isHeadTooLarge: Bool, isHead: Bool, length: UInt64?, limits: HeadLimits) {
    self.id = id
    self.isHeadTooLarge = isHeadTooLarge
    request = StreamContent(length: length)
    response = StreamResponse(isHead: isHead, limits: limits)
  }

  /// True if the connection has yet to get the rest of a response that is complete here.
  package var isOwed: Bool {
    !isAnswered && !isBroken && !isFinished && response.hasHead && !(isDeferred && response.waitingCount == 0)
  }

  /// Moves the head of the request behind `bytes`.
  package func takeHead(into bytes: inout ByteBuffer) {
    head.withBytes { bytes.append($0) }
    head.removeAll()
  }

  /// Bytes of the response's content that were given to frames.
  package var sentBytes: UInt64 { response.sentBytes }
}
