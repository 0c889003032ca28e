// The answer to a metrics scrape: Prometheus text exposition format 0.0.4. It reads the sums once and keeps nothing.

extension MetricsRegistry {
  package static let mediaType: StaticString = "text/plain; version=0.0.4; charset=utf-8"

  /// All metrics, in the order of the catalogue.
  package func prometheusText() -> [UInt8] {
    var text: [UInt8] = []
    for family in catalog.families {
      text.append(contentsOf: "# HELP \(family.name) ".utf8)
      text.append(escaped: "\(family.help)", quote: false)
      text.append(contentsOf: "\n# TYPE \(family.name) \(family.kind.text)\n".utf8)
      for series in family.series {
        switch family.kind {
        case .counter:
          let value = sum(series.cell)
          if family.isSparse, value == 0 { continue }
          text.append(family.name, "", series.labels, value: "\(value)")
        case .gauge:
          let value = Int64(bitPattern: sum(series.cell))
          if value != Gauge.absent { text.append(family.name, "", series.labels, value: "\(value)") }
        case .secondsCounter: text.append(family.name, "", series.labels, value: seconds(sum(series.cell)))
        case .durationHistogram(let firstBound, let boundCount):
          if family.isSparse, (0...boundCount).allSatisfy({ sum(series.cell + $0) == 0 }) { continue }
          append(family.name, series, bounds: catalog.bounds[firstBound..<(firstBound + boundCount)], to: &text)
        }
      }
    }
    return text
  }

  private func append(
    _ name: StaticString, _ series: MetricsCatalog.Series, bounds: ArraySlice<UInt64>, to text: inout [UInt8]
  ) {
    var total: UInt64 = 0
    for (index, bound) in bounds.enumerated() {
      total += sum(series.cell + index)
      text.append(name, "_bucket", series.labels + [(name: "le", value: seconds(bound))], value: "\(total)")
    }
    // The count is made of the same reading as the buckets, so that the last bucket and the count always agree.
    total += sum(series.cell + bounds.count)
    text.append(name, "_bucket", series.labels + [(name: "le", value: "+Inf")], value: "\(total)")
    text.append(name, "_sum", series.labels, value: seconds(sum(series.cell + bounds.count + 1)))
    text.append(name, "_count", series.labels, value: "\(total)")
  }
}

extension MetricsCatalog.Kind {
  fileprivate var text: String {
    switch self {
    case .counter, .secondsCounter: "counter"
    case .gauge: "gauge"
    case .durationHistogram: "histogram"
    }
  }
}

extension [UInt8] {
  /// One line: the name, the labels in braces, the value.
  fileprivate mutating func append(
    _ name: StaticString, _ suffix: String, _ labels: [(name: StaticString, value: String)], value: String
  ) {
    append(contentsOf: "\(name)\(suffix)".utf8)
    var separator = "{"
    for label in labels {
      append(contentsOf: "\(separator)\(label.name)=\"".utf8)
      append(escaped: label.value, quote: true)
      append(UInt8(ascii: "\""))
      separator = ","
    }
    append(contentsOf: (labels.isEmpty ? " \(value)\n" : "} \(value)\n").utf8)
  }

  /// Backslash and line feed are escaped everywhere, the quote in label values.
  fileprivate mutating func append(escaped text: String, quote: Bool) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): append(contentsOf: "\\\\".utf8)
      case 0x0A: append(contentsOf: "\\n".utf8)
      case UInt8(ascii: "\"") where quote: append(contentsOf: "\\\"".utf8)
      default: append(byte)
      }
    }
  }
}

/// Nanoseconds as seconds in decimal, without zeros at the end: `0.0025`, `10`.
private func seconds(_ nanoseconds: UInt64) -> String {
  let whole = nanoseconds / 1_000_000_000
  let fraction = nanoseconds % 1_000_000_000
  if fraction == 0 { return "\(whole)" }
  var digits = String(fraction + 1_000_000_000).dropFirst()
  while digits.last == "0" { digits.removeLast() }
  return "\(whole).\(digits)"
}
