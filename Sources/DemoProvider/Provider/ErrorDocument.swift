// Owns the shape of the identity provider's error bodies (RFC 6749 §5.2 with Entra's members).

internal import Bytes
internal import FoundationEssentials
internal import Tokens

/// By which an operator finds one request again.
struct RequestIdentifiers: Hashable {
  /// The provider's own, new for every request.
  var trace: String
  /// The caller's `client-request-id`, or the provider's where it sent none.
  var correlation: String

  /// `clientRequest` is the caller's header; only a UUID is taken over.
  init(clientRequest: String?) {
    trace = UUID().uuidString.lowercased()
    correlation = (clientRequest.flatMap { UUID(uuidString: $0) } ?? UUID()).uuidString.lowercased()
  }
}

/// An error as the token endpoint answers it.
struct ErrorDocument: Codable, Hashable {
  var error: String
  var error_description: String
  var error_codes: [Int]
  var timestamp: String
  var trace_id: String
  var correlation_id: String
  var suberror: String?
  var claims: String?

  init(_ error: ProviderError, _ identifiers: RequestIdentifiers, now: UnixTime) {
    let date = Date(timeIntervalSince1970: TimeInterval(now.seconds))
    self.error = error.name
    timestamp = date.formatted(.iso8601.dateTimeSeparator(.space))
    trace_id = identifiers.trace
    correlation_id = identifiers.correlation
    error_codes = [error.code]
    suberror = error.suberror
    claims = error.claims
    error_description =
      "AADSTS\(error.code): \(error.message) Trace ID: \(trace_id) Correlation ID: \(correlation_id) Timestamp: \(timestamp)"
  }
}
