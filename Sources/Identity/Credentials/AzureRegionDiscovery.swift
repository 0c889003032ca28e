internal import Bytes
internal import HTTP
internal import HTTPClient
package import Telemetry
package import Tokens

/// The region of this machine, requested from Azure's metadata service once for all applications of a process.
package actor AzureRegionDiscovery {
  package enum Outcome: Sendable, Equatable {
    case found(AzureRegion)
    /// The global endpoint is used for `pause` seconds.
    case failed(reason: String)
  }

  /// The address of the region at the metadata service (MSAL's version of the interface).
  package static let address =
    "http://169.254.169.254/metadata/instance/compute/location?format=text&api-version=2021-02-01"
  /// Seconds without a request to the service after a failure.
  package static let pause: Int64 = 3600

  private let record: @Sendable (Outcome) -> Void
  private var region: AzureRegion?
  private var failedAt: UnixTime?
  private var flight: Task<Outcome, Never>?

  init(_ record: @escaping @Sendable (Outcome) -> Void) { self.record = record }

  /// The machine's region; nil if it is not known, and the global endpoint serves.
  /// - Parameter fetch: reaches the service, directly and within seconds.
  func region(by fetch: @escaping Fetch, now: @escaping @Sendable () -> UnixTime) async -> AzureRegion? {
    if let region { return region }
    if let failedAt, (0..<Self.pause).contains(now() - failedAt) { return nil }
    if let flight {
      _ = await flight.value
      return region
    }
    let flight = Task { await Self.ask(fetch) }
    self.flight = flight
    let outcome = await flight.value
    self.flight = nil
    switch outcome {
    case .found(let found): region = found
    case .failed: failedAt = now()
    }
    record(outcome)
    return region
  }

  private static func ask(_ fetch: Fetch) async -> Outcome {
    guard let url = HTTPURL(ifValid: address) else { preconditionFailure("the address is a URL") }
    var request = FetchRequest(.get, url, fields: [("metadata", "true")])
    request.destination = .region
    do throws(FetchError) {
      let response = try await fetch(request)
      guard response.status == 200 else { return .failed(reason: "it answered with status \(response.status)") }
      let text = String(decoding: response.body.filter { $0 > 0x20 }, as: UTF8.self)
      guard let region = AzureRegion(text) else { return .failed(reason: "its answer names no region") }
      return .found(region)
    } catch {
      return .failed(reason: error.detail)
    }
  }
}

extension AzureRegionDiscovery.Outcome {
  package func write(to log: Log) {
    switch self {
    case .found(let region): log.info("region of this machine found", ["region": .string(region.name)])
    case .failed(let reason):
      log.warning(
        "region of this machine not found, tokens are requested at the global endpoint",
        ["detail": .string(reason), "retry_after_s": .integer(Int(AzureRegionDiscovery.pause))])
    }
  }
}
