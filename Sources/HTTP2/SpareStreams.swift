// The memory of streams that are over, for those that begin: on a busy connection a stream allocates nothing here.

internal import HTTP

/// Streams that a loop keeps for its callers' connections. Confined to the loop.
package final class SpareStreams {
  private var spare = SpareObjects<SessionStream>()

  package init() {}

  /// A stream in the memory of a former one, of which nothing else is left; in new memory if a task still holds the
  /// former one, and for a tunnel.
  func take(_ id: Int32, _ fields: borrowing FieldBlock, length: UInt64?, _ limits: HeadLimits) -> SessionStream {
    let isTunnel = fields.asksForTunnel
    if !isTunnel, let stream = spare.take(), let response = stream.outgoing as? StreamResponse,
      response.isMade(for: limits)
    {
      response.isForHead = fields.isHead
      stream.begin(id, isHeadTooLarge: fields.isTooLarge, length: length)
      return stream
    }
    return SessionStream(
      id, isHeadTooLarge: fields.isTooLarge, length: length, isTunnel: isTunnel,
      StreamResponse(isHead: fields.isHead, asksForTunnel: isTunnel, hasKey: fields.hasKey, limits: limits))
  }

  /// Keeps a stream that its owner has finished, and its session forgotten.
  func giveBack(_ stream: SessionStream) { if stream.mayBeginAgain { spare.giveBack(stream) } }

  /// Drops the streams that were unused since the last call. Returns their number.
  package func sweep() -> Int { spare.sweep() }
}
