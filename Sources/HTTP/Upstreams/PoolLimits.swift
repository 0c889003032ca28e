package import Bytes

/// The bounds of a pool of upstream connections.
package struct PoolLimits: Sendable, Hashable {
  /// Idle connections kept per origin and loop.
  package var maximumIdle: Int
  /// Life of an idle connection; shorter than the upstream's own limit avoids requests that race with its close.
  package var idleTimeout: TimeSpan

  /// By default 64 connections and 55 seconds.
  package init(maximumIdle: Int = 64, idleTimeout: TimeSpan = .seconds(55)) {
    self.maximumIdle = maximumIdle
    self.idleTimeout = idleTimeout
  }
}
