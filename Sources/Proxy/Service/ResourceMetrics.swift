// What a process says of itself as every Prometheus client library does: memory, descriptors, processor time, start.

internal import Bytes
internal import Platform
internal import Telemetry
internal import Tokens

/// The metrics that dashboards for any program know.
struct ResourceMetrics: Sendable {
  private let resident: Gauge
  private let descriptors: Gauge
  private let descriptorLimit: Gauge
  private let start: Gauge
  private let processorTime: Counter

  init(_ catalog: inout MetricsCatalog) {
    resident = catalog.gauge("process_resident_memory_bytes", help: "Memory in RAM.")
    descriptors = catalog.gauge("process_open_fds", help: "Open descriptors.")
    descriptorLimit = catalog.gauge("process_max_fds", help: "Descriptors that may be open.")
    start = catalog.gauge("process_start_time_seconds", help: "When the process began to serve, since 1970.")
    processorTime = catalog.secondsCounter(
      "process_cpu_seconds_total", help: "Processor time, of the process and of the kernel for it.")
  }

  /// Looks and tells.
  func set(in writer: SharedMetricsWriter, startedAt: UnixTime) {
    let resources = Machine.resources
    writer.set(resident, resources.residentBytes)
    writer.set(descriptors, resources.openDescriptors)
    writer.set(descriptorLimit, resources.descriptorLimit)
    writer.set(start, startedAt.seconds)
    writer.set(processorTime, total: resources.processorTime)
  }
}
