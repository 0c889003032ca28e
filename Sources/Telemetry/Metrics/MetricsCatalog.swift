// The list of a process's metrics, with their names, labels and places in memory. It is filled once, at the start, so
// that a handle is just an index.

/// A counter: a number that only grows.
public struct Counter: Sendable, Hashable {
  let cell: Int
}

/// A gauge: a number that goes up and down. Each writer keeps its own part; the sum is shown.
public struct Gauge: Sendable, Hashable {
  let cell: Int

  /// The absence of a number: such a gauge is not shown. Only one writer may set it.
  public static let absent = Int64.min
}

/// A histogram of durations.
public struct DurationHistogram: Sendable, Hashable {
  /// The first bucket; the others follow, then one for longer durations, then the sum.
  let cell: Int
  let firstBound: Int
  let boundCount: Int
}

/// Counters under one name, one for each value of a label or each pair of values of two.
public struct CounterTable: Sendable {
  let first: Int
  let columns: Int

  /// The counter of two label values, by their positions.
  @inline(__always)
  public subscript(row: Int, column: Int = 0) -> Counter {
    Counter(cell: first + row * columns + column)
  }
}

/// Gauges under one name, one for each value of a label or each pair of values of two.
public struct GaugeTable: Sendable {
  let first: Int
  let columns: Int

  /// The gauge of label values, by their positions.
  @inline(__always)
  public subscript(row: Int, column: Int = 0) -> Gauge {
    Gauge(cell: first + row * columns + column)
  }
}

/// Histograms under one name, one for each value of a label or each pair of values of two.
public struct DurationHistogramTable: Sendable {
  let first: DurationHistogram
  let columns: Int

  /// The histogram of label values, by their positions.
  @inline(__always)
  public subscript(row: Int, column: Int = 0) -> DurationHistogram {
    DurationHistogram(
      cell: first.cell + (row * columns + column) * (first.boundCount + 2), firstBound: first.firstBound,
      boundCount: first.boundCount)
  }
}

/// A label and its possible values: known beforehand, so that callers cannot make more.
package struct MetricLabel: Sendable {
  let name: StaticString
  let values: [String]

  /// A label with its values.
  package init(_ name: StaticString, _ values: [String]) {
    self.name = name
    self.values = values
  }
}

extension CaseIterable where Self: Equatable {
  /// The place among all cases: the row or column of a table that has one for each.
  package var position: Int {
    for (index, other) in Self.allCases.enumerated() where other == self { return index }
    preconditionFailure("a case is one of all cases")
  }
}

/// The metrics of a process before it starts.
package struct MetricsCatalog: Sendable {
  enum Kind: Sendable {
    case counter
    /// A counter of seconds, whose cells hold nanoseconds.
    case secondsCounter
    case gauge
    case durationHistogram(firstBound: Int, boundCount: Int)
  }

  struct Series: Sendable {
    let labels: [(name: StaticString, value: String)]
    let cell: Int
  }

  struct Family: Sendable {
    let name: StaticString
    let help: StaticString
    let kind: Kind
    /// True if a series is omitted until its first observation.
    var isSparse = false
    var series: [Series]
  }

  private(set) var families: [Family] = []
  private(set) var cellCount = 0
  private(set) var bounds: [UInt64] = []

  /// An empty catalogue.
  package init() {}

  /// Adds a counter. Its name ends in `_total`.
  package mutating func counter(
    _ name: StaticString, help: StaticString, labels: KeyValuePairs<StaticString, String> = [:]
  ) -> Counter {
    Counter(cell: add(name, help, .counter, [labels.map { (name: $0.key, value: $0.value) }], width: 1))
  }

  /// Adds a counter of seconds, counted in nanoseconds. Its name ends in `_seconds_total`.
  package mutating func secondsCounter(_ name: StaticString, help: StaticString) -> Counter {
    Counter(cell: add(name, help, .secondsCounter, [[]], width: 1))
  }

  /// Adds counters for every value of a label, or for every pair of values of two. With `isSparse`, those that never
  /// occur are not shown.
  package mutating func counters(
    _ name: StaticString, help: StaticString, by row: MetricLabel, and column: MetricLabel? = nil,
    isSparse: Bool = false
  ) -> CounterTable {
    CounterTable(
      first: add(name, help, .counter, Self.series(row, column), width: 1, isSparse: isSparse),
      columns: column?.values.count ?? 1)
  }

  /// Adds a gauge.
  package mutating func gauge(
    _ name: StaticString, help: StaticString, labels: KeyValuePairs<StaticString, String> = [:]
  ) -> Gauge {
    Gauge(cell: add(name, help, .gauge, [labels.map { (name: $0.key, value: $0.value) }], width: 1))
  }

  /// Adds gauges for every value of a label, or for every pair of values of two.
  package mutating func gauges(
    _ name: StaticString, help: StaticString, by row: MetricLabel, and column: MetricLabel? = nil
  ) -> GaugeTable {
    GaugeTable(first: add(name, help, .gauge, Self.series(row, column), width: 1), columns: column?.values.count ?? 1)
  }

  /// Adds a histogram. Its name ends in `_seconds`; `bounds` ascend, each the longest duration of a bucket.
  package mutating func durations(
    _ name: StaticString, help: StaticString, bounds: [Duration] = durationBounds
  ) -> DurationHistogram {
    durations(name, help, bounds, [[]])
  }

  /// Adds a histogram for every value of a label, or for every pair of values of two. Pairs that never occur are not
  /// shown.
  package mutating func durations(
    _ name: StaticString, help: StaticString, bounds: [Duration] = durationBounds, by row: MetricLabel,
    and column: MetricLabel? = nil
  ) -> DurationHistogramTable {
    DurationHistogramTable(
      first: durations(name, help, bounds, Self.series(row, column), isSparse: column != nil),
      columns: column?.values.count ?? 1)
  }

  private static func series(_ row: MetricLabel, _ column: MetricLabel?) -> [[(name: StaticString, value: String)]] {
    row.values.flatMap { value in
      let label = (name: row.name, value: value)
      guard let column else { return [[label]] }
      return column.values.map { [label, (name: column.name, value: $0)] }
    }
  }

  /// From half a millisecond to ten seconds: a local answer to a slow upstream.
  package static let durationBounds: [Duration] = [
    .microseconds(500), .milliseconds(1), .microseconds(2500), .milliseconds(5), .milliseconds(10), .milliseconds(25),
    .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .milliseconds(2500),
    .seconds(5), .seconds(10),
  ]

  private mutating func durations(
    _ name: StaticString, _ help: StaticString, _ limits: [Duration],
    _ labels: [[(name: StaticString, value: String)]], isSparse: Bool = false
  ) -> DurationHistogram {
    let nanoseconds = limits.map { limit in
      UInt64(limit.components.seconds) * 1_000_000_000 + UInt64(limit.components.attoseconds / 1_000_000_000)
    }
    precondition(zip(nanoseconds, nanoseconds.dropFirst()).allSatisfy(<), "bounds ascend")
    let firstBound = bounds.count
    bounds += nanoseconds
    let kind = Kind.durationHistogram(firstBound: firstBound, boundCount: nanoseconds.count)
    let cell = add(name, help, kind, labels, width: nanoseconds.count + 2, isSparse: isSparse)
    return DurationHistogram(cell: cell, firstBound: firstBound, boundCount: nanoseconds.count)
  }

  /// Adds series of `width` cells each, one behind the other, and returns the first cell.
  private mutating func add(
    _ name: StaticString, _ help: StaticString, _ kind: Kind, _ labels: [[(name: StaticString, value: String)]],
    width: Int, isSparse: Bool = false
  ) -> Int {
    let first = cellCount
    let series = labels.enumerated().map { index, labels in Series(labels: labels, cell: first + index * width) }
    cellCount += series.count * width
    // Prometheus wants the series of one name together.
    if let family = families.firstIndex(where: { "\($0.name)" == "\(name)" }) {
      families[family].series += series
    } else {
      families.append(Family(name: name, help: help, kind: kind, isSparse: isSparse, series: series))
    }
    return first
  }
}

extension MetricsCatalog {
  private struct SeriesName: Hashable {
    var family: String
    var labels: [String]
    var width: Int
    var bounds: [UInt64]
  }

  /// For each cell the cell of the same series in `former`, if there is one.
  func cells(of former: MetricsCatalog) -> [Int?] {
    let known = former.seriesNames()
    var cells = [Int?](repeating: nil, count: cellCount)
    for (name, cell) in seriesNames() {
      guard let other = known[name] else { continue }
      for offset in 0..<name.width { cells[cell + offset] = other + offset }
    }
    return cells
  }

  private func seriesNames() -> [SeriesName: Int] {
    var names: [SeriesName: Int] = [:]
    for family in families {
      var (width, limits) = (1, [UInt64]())
      if case .durationHistogram(let firstBound, let boundCount) = family.kind {
        (width, limits) = (boundCount + 2, Array(bounds[firstBound..<(firstBound + boundCount)]))
      }
      for series in family.series {
        let labels = series.labels.map { "\($0.name)=\($0.value)" }
        names[SeriesName(family: "\(family.name)", labels: labels, width: width, bounds: limits)] = series.cell
      }
    }
    return names
  }
}
