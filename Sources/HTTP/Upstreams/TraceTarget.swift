package import Bytes

/// The collector of traces, and the time limits of its requests: by default OpenTelemetry's.
package struct TraceTarget: Sendable {
  package var url: HTTPURL
  /// Fields of every request, secrets among them.
  package var fields: [(name: String, value: Secret)] = []
  /// Limit of one request.
  package var timeout = TimeSpan.seconds(10)
  /// Limit of a batch, with all its repetitions.
  package var exportTimeout = TimeSpan.seconds(30)
  /// Longest wait of a span before it is sent.
  package var scheduleDelay = TimeSpan.seconds(5)

  /// A target with the usual limits.
  package init(_ url: HTTPURL) { self.url = url }
}
