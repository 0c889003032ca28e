package import Bytes

/// The bounds of a pool of upstream connections.
package struct PoolLimits: Sendable, Hashable {
  /// Idle connections kept per origin and loop.
  package var maximumIdle: Int
  /// Life of an idle connection; shorter than the upstream's own limit avoids requests that race with its close.
  package var idleTimeout: TimeSpan
  /// Idle time after which a connection serves no request that cannot be repeated. It is below the idle timeouts of
  /// servers (2 s and more), so that none of them closes the connection while such a request is on its way.
  package var freshness = TimeSpan.seconds(1)

  /// By default 64 connections and 55 seconds.
  package init(maximumIdle: Int = 64, idleTimeout: TimeSpan = .seconds(55)) {
    self.maximumIdle = maximumIdle
    self.idleTimeout = idleTimeout
  }
}
