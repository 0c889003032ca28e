// The memory of all metrics: a block of cells for each writer, so that event loops never touch one another's cache
// lines, and the sum over all blocks. PrometheusText writes the sum.

import Synchronization

/// The metrics of a running process.
package final class MetricsRegistry: Sendable {
  let catalog: MetricsCatalog
  let blocks: [MetricsBlock]

  /// Memory for every metric of the catalogue: a block for each of `writers` event loops, and one for all other
  /// threads.
  ///
  /// A series that `former` has too continues in the same memory, so that a holder of a handle of `former` counts here
  /// as well. `former` must have as many writers.
  package init(_ catalog: MetricsCatalog, writers: Int, succeeding former: MetricsRegistry? = nil) {
    precondition(former.map { $0.blocks.count == writers + 1 } ?? true, "loops do not change while a process runs")
    self.catalog = catalog
    let kept = former.map { catalog.cells(of: $0.catalog) } ?? []
    blocks = (0...writers).map { index in
      MetricsBlock(cells: catalog.cellCount, bounds: catalog.bounds, kept: kept, of: former?.blocks[index])
    }
  }

  /// The handle of an event loop, by the loop's number from 0. Only one thread may use it at a time.
  package func writer(_ index: Int) -> MetricsWriter {
    precondition(index < blocks.count - 1, "a writer for each loop, and no more")
    return MetricsWriter(block: blocks[index])
  }

  /// The handle of all threads that are no event loop. Any number of threads may use it.
  package var shared: SharedMetricsWriter { SharedMetricsWriter(block: blocks[blocks.count - 1]) }

  /// The value of a gauge that writers add to.
  package func value(of gauge: Gauge) -> Int64 { Int64(bitPattern: sum(gauge.cell)) }

  /// The sum of a cell over all writers.
  func sum(_ cell: Int) -> UInt64 { blocks.reduce(0) { $0 &+ $1.value(cell) } }
}

/// The cells of one writer.
final class MetricsBlock: Sendable {
  // Allocated here, freed in deinit; written before other threads see them. Each points into one of `storages`.
  private nonisolated(unsafe) let cells: UnsafeMutablePointer<UnsafeMutablePointer<Atomic<UInt64>>>
  private nonisolated(unsafe) let bounds: UnsafeMutablePointer<UInt64>
  private let count: Int
  private let storages: [CellStorage]

  /// Cells for a catalogue. `kept` has for each the cell of `former` that it continues.
  init(cells count: Int, bounds limits: [UInt64], kept: [Int?] = [], of former: MetricsBlock? = nil) {
    let keptCount = kept.count { $0 != nil }
    let fresh = CellStorage(count: count - keptCount)
    cells = .allocate(capacity: max(count, 1))
    var next = 0
    var isUsed = (former?.storages ?? []).map { _ in false }
    for cell in 0..<count {
      if let former, let index = kept[cell] {
        let pointer = former.cells[index]
        (cells + cell).initialize(to: pointer)
        if let storage = former.storages.firstIndex(where: { $0.holds(pointer) }) { isUsed[storage] = true }
      } else {
        (cells + cell).initialize(to: fresh.start + next)
        next += 1
      }
    }
    self.count = count
    storages = zip(former?.storages ?? [], isUsed).filter(\.1).map(\.0) + (next > 0 ? [fresh] : [])
    bounds = .allocate(capacity: max(limits.count, 1))
    bounds.initialize(from: limits, count: limits.count)
  }

  deinit {
    cells.deallocate()
    bounds.deallocate()
  }

  /// For the only writer of this block: no other thread stores, so no locked instruction is needed.
  @inline(__always)
  func add(_ cell: Int, _ value: UInt64) {
    let place = cells[cell]
    place.pointee.store(place.pointee.load(ordering: .relaxed) &+ value, ordering: .relaxed)
  }

  /// For one of many writers.
  @inline(__always)
  func addShared(_ cell: Int, _ value: UInt64) {
    cells[cell].pointee.wrappingAdd(value, ordering: .relaxed)
  }

  @inline(__always)
  func set(_ cell: Int, _ value: UInt64) { cells[cell].pointee.store(value, ordering: .relaxed) }

  func value(_ cell: Int) -> UInt64 { cells[cell].pointee.load(ordering: .relaxed) }

  /// The cell of the bucket that a duration belongs to, and the cell of the sum.
  @inline(__always)
  func bucket(_ histogram: DurationHistogram, nanoseconds: UInt64) -> (bucket: Int, sum: Int) {
    var index = 0
    while index < histogram.boundCount, nanoseconds > bounds[histogram.firstBound + index] { index += 1 }
    return (histogram.cell + index, histogram.cell + histogram.boundCount + 1)
  }
}

/// Memory for cells that were added together. It lives as long as a block that uses one of them.
final class CellStorage: Sendable {
  // Allocated here, freed in deinit; the cells are atomics.
  nonisolated(unsafe) let start: UnsafeMutablePointer<Atomic<UInt64>>
  private let count: Int

  init(count: Int) {
    // Whole pairs of cache lines (the adjacent line is prefetched with its neighbour), so that no two writers share
    // one.
    let bytes = (max(count, 1) * MemoryLayout<Atomic<UInt64>>.stride + 127) / 128 * 128
    start = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 128).bindMemory(
      to: Atomic<UInt64>.self, capacity: max(count, 1))
    for index in 0..<count { (start + index).initialize(to: Atomic(0)) }
    self.count = count
  }

  deinit {
    start.deinitialize(count: count)
    start.deallocate()
  }

  func holds(_ cell: UnsafeMutablePointer<Atomic<UInt64>>) -> Bool {
    start <= cell && cell < start + count
  }
}
