// Owns the memory of all metrics: a block of cells for each writer, so that event loops never touch one another's cache
// lines, and the sum over all blocks. How the sum is written out stands in PrometheusText.

import Synchronization

/// The metrics of a running process.
public final class MetricsRegistry: Sendable {
  let catalog: MetricsCatalog
  let blocks: [MetricsBlock]

  /// Memory for every metric of the catalogue: a block for each of `writers` event loops, and one for everybody else.
  public init(_ catalog: MetricsCatalog, writers: Int) {
    self.catalog = catalog
    blocks = (0...writers).map { _ in MetricsBlock(cells: catalog.cellCount, bounds: catalog.bounds) }
  }

  /// The handle of an event loop, by the loop's number from 0. Only one thread may use it at a time.
  public func writer(_ index: Int) -> MetricsWriter {
    precondition(index < blocks.count - 1, "a writer for each loop, and no more")
    return MetricsWriter(block: blocks[index])
  }

  /// The handle of everybody who is not an event loop. Any number of threads may use it.
  public var shared: SharedMetricsWriter {
    SharedMetricsWriter(block: blocks[blocks.count - 1])
  }

  /// The sum of a cell over all writers.
  func sum(_ cell: Int) -> UInt64 {
    blocks.reduce(0) { $0 &+ $1.value(cell) }
  }
}

/// The cells of one writer.
final class MetricsBlock: Sendable {
  // Allocated here, freed in deinit; the cells are atomics and the bounds are written before anybody else sees them.
  private nonisolated(unsafe) let cells: UnsafeMutablePointer<Atomic<UInt64>>
  private nonisolated(unsafe) let bounds: UnsafeMutablePointer<UInt64>
  private let cellCount: Int

  init(cells count: Int, bounds limits: [UInt64]) {
    // Whole pairs of cache lines (the adjacent line is prefetched with its neighbour), so that no two blocks share one.
    let bytes = (max(count, 1) * MemoryLayout<Atomic<UInt64>>.stride + 127) / 128 * 128
    let raw = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 128)
    cells = raw.bindMemory(to: Atomic<UInt64>.self, capacity: count)
    for index in 0..<count { (cells + index).initialize(to: Atomic(0)) }
    bounds = .allocate(capacity: max(limits.count, 1))
    bounds.initialize(from: limits, count: limits.count)
    cellCount = count
  }

  deinit {
    cells.deinitialize(count: cellCount)
    cells.deallocate()
    bounds.deallocate()
  }

  /// For the only writer of this block: nobody else stores, so no locked instruction is needed.
  @inline(__always)
  func add(_ cell: Int, _ value: UInt64) {
    cells[cell].store(cells[cell].load(ordering: .relaxed) &+ value, ordering: .relaxed)
  }

  /// For one of many writers.
  @inline(__always)
  func addShared(_ cell: Int, _ value: UInt64) {
    cells[cell].wrappingAdd(value, ordering: .relaxed)
  }

  @inline(__always)
  func set(_ cell: Int, _ value: UInt64) {
    cells[cell].store(value, ordering: .relaxed)
  }

  func value(_ cell: Int) -> UInt64 {
    cells[cell].load(ordering: .relaxed)
  }

  /// The cell of the bucket that a duration belongs to, and the cell of the sum.
  @inline(__always)
  func bucket(_ histogram: DurationHistogram, nanoseconds: UInt64) -> (bucket: Int, sum: Int) {
    var index = 0
    while index < histogram.boundCount, nanoseconds > bounds[histogram.firstBound + index] { index += 1 }
    return (histogram.cell + index, histogram.cell + histogram.boundCount + 1)
  }
}
