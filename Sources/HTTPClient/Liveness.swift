// Detects connections whose peer has gone without a word, which a network in between may hide for many minutes.

internal import Bytes
package import Platform

/// Decides when the peer of a connection with HTTP/2 is asked for a sign of life, and when the connection is lost.
package struct Liveness: Sendable {
  package enum Action: Sendable, Hashable {
    case wait
    /// Send a PING.
    case ask
    /// The peer has not answered.
    case giveUp
  }

  /// Silence after which a peer that has requests is asked.
  static let silence = TimeSpan.seconds(30)
  /// Time for the answer.
  static let patience = TimeSpan.seconds(15)
  /// Time between two questions: servers with gRPC end a connection that asks more often than every five minutes.
  static let pause = TimeSpan.seconds(360)

  private var heard: MonotonicTime
  private var lastAsked: MonotonicTime?
  /// True if the answer to the last question is awaited.
  private var isAsking = false

  package init(at now: MonotonicTime) { heard = now }

  /// Bytes of the peer have arrived.
  package mutating func heardSomething(at now: MonotonicTime) {
    heard = now
    isAsking = false
  }

  /// True if no bytes of the peer have arrived since then.
  func isSilent(since began: MonotonicTime) -> Bool { heard < began }

  /// The step that is due while requests are in progress.
  package mutating func action(at now: MonotonicTime) -> Action {
    guard now >= due else { return .wait }
    if isAsking { return .giveUp }
    lastAsked = now
    isAsking = true
    return .ask
  }

  /// The time of the next step.
  package var due: MonotonicTime {
    if isAsking, let lastAsked { return lastAsked + Self.patience }
    return max(heard + Self.silence, lastAsked.map { $0 + Self.pause } ?? heard)
  }
}
