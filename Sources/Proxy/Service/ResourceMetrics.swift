internal import Bytes
internal import Platform
internal import Telemetry
internal import Tokens

/// The metrics of a process in every Prometheus client library: memory, descriptors, processor time, start.
struct ResourceMetrics: Sendable {
  private let resident: Gauge
  private let descriptors: Gauge
  private let descriptorLimit: Gauge
  private let start: Gauge
  private let processorTime: Counter

  init(_ catalog: inout MetricsCatalog) {
    resident = catalog.gauge("process_resident_memory_bytes", help: "Resident memory in bytes.")
    descriptors = catalog.gauge("process_open_fds", help: "Open descriptors.")
    descriptorLimit = catalog.gauge("process_max_fds", help: "Maximum number of open descriptors.")
    start = catalog.gauge("process_start_time_seconds", help: "Start time of the process since 1970, in seconds.")
    processorTime = catalog.secondsCounter(
      "process_cpu_seconds_total", help: "Processor time, of the process and of the kernel for it.")
  }

  func set(in writer: SharedMetricsWriter, startedAt: UnixTime) {
    let resources = Machine.resources
    writer.set(resident, resources.residentBytes)
    writer.set(descriptors, resources.openDescriptors)
    writer.set(descriptorLimit, resources.descriptorLimit)
    writer.set(start, startedAt.seconds)
    writer.set(processorTime, total: resources.processorTime)
  }
}
