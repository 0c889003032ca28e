// A collector of traces that reads them with OpenTelemetry's own definition of the protocol; see Tests/peers/collector.py.

import FoundationEssentials

/// A running collector.
public struct TraceCollector: Sendable {
  /// A span as it arrived.
  public struct Span: Decodable, Sendable {
    /// Its name.
    public let name: String
    /// 1 internal, 2 server, 3 client.
    public let kind: Int
    /// The trace it belongs to, in hexadecimal.
    public let trace: String
    /// Its own id.
    public let id: String
    /// Empty where there is none.
    public let parent: String
    /// The flags, OTLP's bits included.
    public let flags: Int
    /// The `tracestate`.
    public let state: String
    /// When it began, in nanoseconds since 1970.
    public let start: UInt64
    /// When it ended.
    public let end: UInt64
    /// Whether its status says so.
    public let failed: Bool
    /// Every attribute, as text.
    public let attributes: [String: String]
  }

  /// A request as it arrived.
  public struct Request: Decodable, Sendable {
    /// The path it went to.
    public let path: String
    /// Its fields, names in lower case.
    public let headers: [String: String]
    /// What it was answered with.
    public let status: Int
    /// What it says of the process.
    public let resource: [String: String]
    /// The spans in it.
    public let spans: [Span]
    /// What was wrong with it; nil where nothing was.
    public let problem: String?
  }

  /// The port of 127.0.0.1 it listens on.
  public let port: Int
  /// The process; each request is a line of its output.
  public let process: ChildProcess

  /// Starts it; `answers` are the first answers, as collector.py has them.
  public init(
    in directory: TemporaryDirectory, port: Int = 0, https certificate: CertificateAuthority.Certificate? = nil,
    answers: String = "[]"
  ) async throws {
    let tls = certificate.map { ["--certificate", $0.certificateFile, "--key", $0.keyFile] } ?? []
    process = try ChildProcess(
      "collector-\(UUID().uuidString.prefix(4))",
      [pinnedPython(), testsDirectory + "/peers/collector.py", "--port", "\(port)", "--answers", answers] + tls,
      in: directory)
    self.port = try await announcedPort(of: process)
  }

  /// What it was sent so far, oldest first.
  public var requests: [Request] {
    process.output.split(separator: "\n").compactMap { line in
      try? JSONDecoder().decode(Request.self, from: Data(line.utf8))
    }
  }

  /// The spans that it took.
  public var spans: [Span] { requests.filter { $0.status == 200 }.flatMap(\.spans) }

  /// The variables that make a proxy send spans here, often.
  public var environment: [String: String] {
    ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(port)", "OTEL_BSP_SCHEDULE_DELAY": "100"]
  }
}
