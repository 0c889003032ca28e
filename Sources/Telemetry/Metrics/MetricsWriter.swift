// Operations on a metric while the process runs. Nothing here allocates, locks or looks anything up.

/// Counts for one event loop. Copies share the cells; only one thread at a time may use any of them.
package struct MetricsWriter: Sendable {
  let block: MetricsBlock

  @inline(__always)
  package func add(_ counter: Counter, _ value: UInt64 = 1) { block.add(counter.cell, value) }

  /// Adds to this writer's part of a gauge; a negative number subtracts.
  @inline(__always)
  package func add(_ gauge: Gauge, _ value: Int64) {
    block.add(gauge.cell, UInt64(bitPattern: value))
  }

  /// Sets this writer's part of a gauge.
  @inline(__always)
  package func set(_ gauge: Gauge, _ value: Int64) {
    block.set(gauge.cell, UInt64(bitPattern: value))
  }

  @inline(__always)
  package func observe(_ histogram: DurationHistogram, nanoseconds: UInt64) {
    let cells = block.bucket(histogram, nanoseconds: nanoseconds)
    block.add(cells.bucket, 1)
    block.add(cells.sum, nanoseconds)
  }
}

/// Counts for all threads that are no event loop. Any number of threads may use it at once.
package struct SharedMetricsWriter: Sendable {
  let block: MetricsBlock

  package func add(_ counter: Counter, _ value: UInt64 = 1) { block.addShared(counter.cell, value) }

  /// Adds to the shared part of a gauge; a negative number subtracts.
  package func add(_ gauge: Gauge, _ value: Int64) {
    block.addShared(gauge.cell, UInt64(bitPattern: value))
  }

  /// Sets a counter that is counted elsewhere. It must not decrease.
  package func set(_ counter: Counter, total: UInt64) { block.set(counter.cell, total) }

  package func set(_ gauge: Gauge, _ value: Int64) {
    block.set(gauge.cell, UInt64(bitPattern: value))
  }

  package func observe(_ histogram: DurationHistogram, nanoseconds: UInt64) {
    let cells = block.bucket(histogram, nanoseconds: nanoseconds)
    block.addShared(cells.bucket, 1)
    block.addShared(cells.sum, nanoseconds)
  }
}
