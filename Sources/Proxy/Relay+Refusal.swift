// Owns what becomes of an answer that refuses the token and is not passed on.

internal import HTTP
internal import HTTPClient
internal import Network

extension Relay {
  /// Drops the answer that is held. Whether the connection is clean behind it: only where all of it is there already.
  @inline(never)
  mutating func discardAnswer() -> Bool {
    guard let heldHead, isRequestSent, !binding.isBound else { return false }
    do throws(FramingError) {
      let framing = try scratch.responseInput.withBytes { bytes throws(FramingError) in
        try BodyFraming.response(scratch.responseParser.head, bytes, requestMethod: admission.method)
      }
      guard Persistence.after(response: scratch.responseParser.head, framing: framing) == .keepAlive else {
        return false
      }
      scratch.responseInput.consume(heldHead)
      var drain = AnswerDrain(framing)
      return drain.finish(&scratch.responseInput, from: upstream, &scratch.responseTrailers, limits.head)
        && scratch.responseInput.isEmpty
    } catch {
      return false
    }
  }
}
