// The metrics that are computed at the scrape instead of counted while requests run.

internal import Bytes
internal import Identity
internal import Platform
internal import Telemetry
internal import Tokens

extension Service {
  func setGauges(at now: UnixTime, startedAt: UnixTime) async {
    let writer = registry.shared
    for status in await routeStatuses(at: now) {
      let row = status.route.index
      let held = status.token?.expiresAt.map { $0 - now } ?? 0
      writer.set(metrics.expiry[row], held > 0 ? held : Gauge.absent)
      writer.set(
        metrics.tokenFileExpiry[row], status.file.map { max(($0.expiresAt ?? now) - now, 0) } ?? Gauge.absent)
      writer.set(metrics.formerCredentials[row], status.isOfFormerCredential ? 1 : 0)
      for (column, state) in RouteState.allCases.enumerated() {
        writer.set(metrics.states[row, column], status.condition.state == state ? 1 : 0)
      }
    }
    for (row, certificate) in description.certificates.enumerated() {
      writer.set(metrics.certificates[row], certificate.validity.notAfter - now)
    }
    let callers = await broker.callerCounts
    writer.set(metrics.callerTokens, Int64(callers.held))
    writer.set(metrics.callerTokenEvictions, total: callers.evictions)
    writer.set(metrics.signInNeeds, Int64(signInRequirements.known.count))
    writer.set(metrics.droppedLines[0], total: accessLog?.droppedLines ?? 0)
    writer.set(metrics.droppedLines[1], total: OutputFile.standardError.droppedLines)
    metrics.process.set(in: writer, startedAt: startedAt)
  }
}
