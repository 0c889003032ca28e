package import Bytes

/// The bounds of a pool of upstream connections.
package struct PoolLimits: Sendable, Hashable {
  /// Idle connections kept per origin and loop.
  package var maximumIdle: Int
  /// How long one is kept; shorter than the upstream's own limit avoids requests that race with its close.
  package var idleTimeout: TimeSpan

  /// 64 connections and 55 seconds, unless said otherwise.
  package init(maximumIdle: Int = 64, idleTimeout: TimeSpan = .seconds(55)) {
    self.maximumIdle = maximumIdle
    self.idleTimeout = idleTimeout
  }
}
