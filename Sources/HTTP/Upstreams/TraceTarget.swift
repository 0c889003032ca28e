package import Bytes

/// The collector of traces, and how long is tried to reach it. The limits are OpenTelemetry's, unless said otherwise.
package struct TraceTarget: Sendable {
  /// The whole URL.
  package var url: HTTPURL
  /// Fields of every request, secrets among them.
  package var fields: [(name: String, value: Secret)] = []
  /// For one request.
  package var timeout = TimeSpan.seconds(10)
  /// For a batch, with all its repetitions.
  package var exportTimeout = TimeSpan.seconds(30)
  /// How long spans wait at most before they are sent.
  package var scheduleDelay = TimeSpan.seconds(5)

  /// A target with the usual limits.
  package init(_ url: HTTPURL) {
    self.url = url
  }
}
