// What the identity provider and the API tell of the requests they saw: collected during a step of the tour, shown at
// once afterwards.

import DemoProvider
import Platform

/// The exchanges of both services, in order.
final class ExchangeLog: Sendable {
  private struct State {
    var pending: [DemoExchange] = []
    var isLive = false
  }

  private let state = Locked(State())
  private let terminal: Terminal

  init(_ terminal: Terminal) {
    self.terminal = terminal
  }

  /// Takes note of an exchange.
  func append(_ exchange: DemoExchange) {
    let isLive = state.withLock { state in
      if !state.isLive { state.pending.append(exchange) }
      return state.isLive
    }
    if isLive { terminal.indented(exchange.line, .quiet) }
  }

  /// The exchanges since the last call.
  func take() -> [DemoExchange] {
    state.withLock { state in
      defer { state.pending = [] }
      return state.pending
    }
  }

  /// From now on, shows every exchange as it happens.
  func goLive() {
    state.withLock { $0.isLive = true }
  }
}

extension DemoExchange {
  /// Where the tenant's identifier is all that makes a path long, it says nothing.
  private var shortPath: String { path.replacing(DemoDirectory.Sample.tenant, with: "…") }

  /// The exchange as a line.
  var line: String {
    "\(service.padded(8)) saw \(method) \(shortPath) → \(status)\(note.isEmpty ? "" : "  (\(note))")"
  }

  /// The exchange among others on a line. Of the provider's long paths the end tells them apart.
  var words: String {
    let end = service == "provider" ? path.split(separator: "/").last.map { "…/\($0)" } : nil
    return "\(service) \(end ?? path) → \(status)"
  }
}
