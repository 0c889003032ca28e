// Owns the answers to OPTIONS that are the proxy's own: to a browser's preflight, and where `Max-Forwards` is used up.

internal import HTTP
internal import Network
internal import Telemetry

extension Exchange {
  /// Answers `.preflight`, so that a browser's page of another site goes on, or `.options`, with the methods that the route takes.
  mutating func answerOptions(
    _ reason: ExchangeFailure, _ connection: DownstreamConnection, _ scratch: Scratch, keepsConnection: Bool
  ) async -> Bool {
    writeOptions(reason, connection, scratch, keepsConnection: keepsConnection)
    let isDelivered = await flush(connection, scratch)
    finish(connection.state, scratch, connection)
    return isDelivered && keepsConnection
  }

  @inline(never)
  private mutating func writeOptions(
    _ reason: ExchangeFailure, _ connection: DownstreamConnection, _ scratch: Scratch, keepsConnection: Bool
  ) {
    let status = ProblemDocument(reason).status
    HeadWriter.statusLine(status, into: &scratch.responseOutput)
    connection.state.clock.refreshDate()
    connection.state.clock.dateText.withBytes { HeadWriter.field("Date", $0, into: &scratch.responseOutput) }
    if case .preflight = reason {
      scratch.requestInput.withBytes { bytes in
        scratch.reader.withBytes { origin in
          SiteSharing.writePreflightGrant(
            scratch.requestParser.head, bytes, origin: origin, into: &scratch.responseOutput)
        }
      }
    } else {
      if let allow = route?.allow, !allow.isEmpty {
        HeadWriter.field("Allow", allow.span, into: &scratch.responseOutput)
      }
      HeadWriter.field("Content-Length", "0", into: &scratch.responseOutput)
      if !scratch.reader.isEmpty {
        scratch.reader.withBytes { SiteSharing.writeGrant(origin: $0, into: &scratch.responseOutput) }
      }
    }
    if keepsConnection {
      scratch.requestInput.consume(headBytes)
      if scratch.requestParser.head.version == .http10 {
        HeadWriter.field("Connection", "keep-alive", into: &scratch.responseOutput)
      }
    } else {
      HeadWriter.field("Connection", "close", into: &scratch.responseOutput)
    }
    HeadWriter.end(into: &scratch.responseOutput)
    record.status = UInt16(status)
    record.outcome = .answeredByProxy
  }
}
