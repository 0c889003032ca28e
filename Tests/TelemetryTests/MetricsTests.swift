import Telemetry
import Testing

@Suite struct `Metrics` {
  @Test func `every kind of metric is written as Prometheus reads it`() {
    var catalog = MetricsCatalog()
    let requests = catalog.counters(
      "requests_total", help: "Requests by route.", by: MetricLabel("route", ["a", "b"]),
      and: MetricLabel("status", ["2xx", "5xx"]))
    let open = catalog.gauge("open_connections", help: "Connections.", labels: ["side": "downstream"])
    let wait = catalog.durations(
      "wait_seconds", help: "Waiting.", bounds: [.microseconds(500), .milliseconds(25), .seconds(1)],
      by: MetricLabel("route", ["a", "b"]))
    let idle = catalog.gauge("open_connections", help: "Connections.", labels: ["side": "upstream"])
    let starts = catalog.counter("starts_total", help: "Starts.")
    let registry = MetricsRegistry(catalog, writers: 2)
    let (first, second, shared) = (registry.writer(0), registry.writer(1), registry.shared)

    first.add(requests[0, 0])
    second.add(requests[0, 0], 2)
    shared.add(requests[1, 1])
    first.add(open, 3)
    second.add(open, -1)
    shared.set(idle, -7)
    first.observe(wait[1], nanoseconds: 500_000)
    second.observe(wait[1], nanoseconds: 500_001)
    shared.observe(wait[1], nanoseconds: 2_000_000_000)
    shared.add(starts)

    #expect(
      String(decoding: registry.prometheusText(), as: UTF8.self) == """
        # HELP requests_total Requests by route.
        # TYPE requests_total counter
        requests_total{route="a",status="2xx"} 3
        requests_total{route="a",status="5xx"} 0
        requests_total{route="b",status="2xx"} 0
        requests_total{route="b",status="5xx"} 1
        # HELP open_connections Connections.
        # TYPE open_connections gauge
        open_connections{side="downstream"} 2
        open_connections{side="upstream"} -7
        # HELP wait_seconds Waiting.
        # TYPE wait_seconds histogram
        wait_seconds_bucket{route="a",le="0.0005"} 0
        wait_seconds_bucket{route="a",le="0.025"} 0
        wait_seconds_bucket{route="a",le="1"} 0
        wait_seconds_bucket{route="a",le="+Inf"} 0
        wait_seconds_sum{route="a"} 0
        wait_seconds_count{route="a"} 0
        wait_seconds_bucket{route="b",le="0.0005"} 1
        wait_seconds_bucket{route="b",le="0.025"} 2
        wait_seconds_bucket{route="b",le="1"} 2
        wait_seconds_bucket{route="b",le="+Inf"} 3
        wait_seconds_sum{route="b"} 2.001000001
        wait_seconds_count{route="b"} 3
        # HELP starts_total Starts.
        # TYPE starts_total counter
        starts_total 1

        """)
  }

  static let escapes: [(String, String)] = [
    ("plain", "plain"), ("back\\slash", "back\\\\slash"), ("a \"quote\"", "a \\\"quote\\\""),
    ("two\nlines", "two\\nlines"), ("é", "é"),
  ]

  @Test(arguments: escapes)
  func `a label value cannot break out of its quotes`(value: String, expected: String) {
    var catalog = MetricsCatalog()
    _ = catalog.counter("c_total", help: "A \"help\" with \\ and\nlines.", labels: ["name": value])
    let text = String(decoding: MetricsRegistry(catalog, writers: 0).prometheusText(), as: UTF8.self)
    #expect(
      text
        == "# HELP c_total A \"help\" with \\\\ and\\nlines.\n# TYPE c_total counter\nc_total{name=\"\(expected)\"} 0\n"
    )
  }

  @Test func `a number that is not there is not shown, nor a pair that never occurred`() {
    var catalog = MetricsCatalog()
    let ends = catalog.gauges("end_seconds", help: "Ends.", by: MetricLabel("route", ["a", "b"]))
    let states = catalog.gauges(
      "state", help: "States.", by: MetricLabel("route", ["a"]), and: MetricLabel("state", ["up", "down"]))
    let waits = catalog.durations(
      "wait_seconds", help: "Waiting.", bounds: [.seconds(1)], by: MetricLabel("route", ["a", "b"]),
      and: MetricLabel("class", ["2xx", "5xx"]))
    let used = catalog.secondsCounter("cpu_seconds_total", help: "Used.")
    let registry = MetricsRegistry(catalog, writers: 1)
    registry.shared.set(ends[0], Gauge.absent)
    registry.shared.set(ends[1], 7)
    registry.shared.set(states[0, 1], 1)
    registry.writer(0).observe(waits[1, 0], nanoseconds: 2)
    registry.shared.set(used, total: 1_500_000_000)
    #expect(
      String(decoding: registry.prometheusText(), as: UTF8.self) == """
        # HELP end_seconds Ends.
        # TYPE end_seconds gauge
        end_seconds{route="b"} 7
        # HELP state States.
        # TYPE state gauge
        state{route="a",state="up"} 0
        state{route="a",state="down"} 1
        # HELP wait_seconds Waiting.
        # TYPE wait_seconds histogram
        wait_seconds_bucket{route="b",class="2xx",le="1"} 1
        wait_seconds_bucket{route="b",class="2xx",le="+Inf"} 1
        wait_seconds_sum{route="b",class="2xx"} 0.000000002
        wait_seconds_count{route="b",class="2xx"} 1
        # HELP cpu_seconds_total Used.
        # TYPE cpu_seconds_total counter
        cpu_seconds_total 1.5

        """)
  }

  @Test func `many threads lose no count`() async {
    var catalog = MetricsCatalog()
    let count = catalog.counter("c_total", help: "Counts.")
    let registry = MetricsRegistry(catalog, writers: 4)
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<4 {
        group.addTask {
          let (own, shared) = (registry.writer(index), registry.shared)
          for _ in 0..<10_000 {
            own.add(count)
            shared.add(count)
          }
        }
      }
    }
    #expect(String(decoding: registry.prometheusText(), as: UTF8.self).hasSuffix("\nc_total 80000\n"))
  }

  @Test func `a successor continues the former counts, and shows its own series`() {
    func registry(routes: [String], after former: MetricsRegistry? = nil) -> (
      MetricsRegistry, CounterTable, DurationHistogramTable
    ) {
      var catalog = MetricsCatalog()
      // In another place of the catalogue each time.
      for route in routes { _ = catalog.counter("other_total", help: "Other.", labels: ["route": route]) }
      let requests = catalog.counters("requests_total", help: "Requests.", by: MetricLabel("route", routes))
      let wait = catalog.durations(
        "wait_seconds", help: "Waiting.", bounds: [.seconds(1)], by: MetricLabel("route", routes))
      return (MetricsRegistry(catalog, writers: 1, succeeding: former), requests, wait)
    }
    func lines(_ registry: MetricsRegistry) -> [Substring] {
      String(decoding: registry.prometheusText(), as: UTF8.self).split(separator: "\n").filter {
        $0.hasPrefix("requests") || $0.hasPrefix("wait_seconds_sum") || $0.hasPrefix("wait_seconds_bucket")
      }
    }
    let (first, requests, wait) = registry(routes: ["a", "b"])
    first.writer(0).add(requests[0], 2)
    first.writer(0).add(requests[1], 3)
    first.shared.observe(wait[1], nanoseconds: 500_000_000)
    let (second, later, _) = registry(routes: ["b", "c"], after: first)
    // A holder of a handle of the first counts in the second too.
    first.writer(0).add(requests[1])
    second.writer(0).add(later[0], 10)
    second.shared.add(later[1], 5)
    let expected: [Substring] = [
      #"requests_total{route="b"} 14"#, #"requests_total{route="c"} 5"#,
      #"wait_seconds_bucket{route="b",le="1"} 1"#, #"wait_seconds_bucket{route="b",le="+Inf"} 1"#,
      #"wait_seconds_sum{route="b"} 0.5"#, #"wait_seconds_bucket{route="c",le="1"} 0"#,
      #"wait_seconds_bucket{route="c",le="+Inf"} 0"#, #"wait_seconds_sum{route="c"} 0"#,
    ]
    #expect(lines(second) == expected)
    // A hundred of them need no more memory than one, and lose nothing.
    var last = second
    for _ in 0..<100 { last = registry(routes: ["b", "c"], after: last).0 }
    #expect(lines(last) == expected)
  }
}
