// Owns what the identity provider and the API tell of the requests they saw: collected during a step of the tour, shown
// at once afterwards.

import Platform
import DemoProvider

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
    if isLive { terminal.indented(Self.text(exchange), .quiet) }
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

  /// An exchange as a line.
  static func text(_ exchange: DemoExchange) -> String {
    let service = exchange.service.padded(8)
    // Where the tenant's identifier is all that makes a path long, it says nothing.
    let path = exchange.path.replacing(DemoDirectory.Sample.tenant, with: "…")
    let note = exchange.note.isEmpty ? "" : "  (\(exchange.note))"
    return "\(service) saw \(exchange.method) \(path) → \(exchange.status)\(note)"
  }
}

extension String {
  /// The text with spaces behind it, up to `width` characters.
  func padded(_ width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 0))
  }
}
