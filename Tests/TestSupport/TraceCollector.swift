// A collector of traces that reads them with OpenTelemetry's own definition of the protocol; see
// Tests/peers/collector.py.

import FoundationEssentials

package struct TraceCollector: Sendable {
  package struct Span: Decodable, Sendable {
    package let name: String
    /// 1 internal, 2 server, 3 client.
    package let kind: Int
    /// The trace it belongs to, in hexadecimal.
    package let trace: String
    package let id: String
    /// Empty if there is none.
    package let parent: String
    /// The flags, OTLP's bits included.
    package let flags: Int
    package let state: String
    /// When it began, in nanoseconds since 1970.
    package let start: UInt64
    package let end: UInt64
    package let failed: Bool
    package let attributes: [String: String]
  }

  package struct Request: Decodable, Sendable {
    package let path: String
    /// Its fields, names in lower case.
    package let headers: [String: String]
    package let status: Int
    package let resource: [String: String]
    package let spans: [Span]
    /// Its mistake; nil if there is none.
    package let problem: String?
  }

  /// The port of 127.0.0.1 it listens on.
  package let port: Int
  /// The process; each request is a line of its output.
  package let process: ChildProcess

  /// Starts it; `answers` are the first answers, as collector.py has them.
  package init(
    in directory: TemporaryDirectory? = nil, port: Int = 0, https certificate: CertificateAuthority.Certificate? = nil,
    answers: String = "[]"
  ) async throws {
    let peer = try await PythonPeer(
      "collector.py", ["--port", "\(port)", "--answers", answers] + (certificate?.options ?? []), in: directory)
    (self.port, process) = (peer.port, peer.process)
  }

  /// The requests so far, oldest first.
  package var requests: [Request] {
    process.output.split(separator: "\n").compactMap { line in
      try? JSONDecoder().decode(Request.self, from: Data(line.utf8))
    }
  }

  /// The spans that it took.
  package var spans: [Span] { requests.filter { $0.status == 200 }.flatMap(\.spans) }

  /// The variables that make a proxy send spans here, often.
  package var environment: [String: String] {
    ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(port)", "OTEL_BSP_SCHEDULE_DELAY": "100"]
  }
}
