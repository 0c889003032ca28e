// The small whole-body request of discovery, keys and token endpoints. The relay has its own, streaming, path and never
// uses this one.

public import Bytes
public import HTTP
public import Platform

/// One request whose body and answer are small enough to be kept in memory.
public struct FetchRequest: Sendable {
  /// The method.
  public enum Method: Sendable, Hashable {
    /// A GET without a body.
    case get
    case post(contentType: String, body: [UInt8])
  }

  /// The absolute URL.
  public var url: HTTPURL
  /// GET or POST.
  public var method: Method
  /// Further fields, names in lower case. `host`, `content-length`, `content-type` and `connection` are the client's.
  public var fields: [(name: String, value: String)]
  /// The destination of a request. One application may have both.
  package enum Destination: Sendable, Hashable {
    case provider
    /// A service of the machine: never through a proxy.
    case machine
    /// A service elsewhere that gives out the application's proof.
    case federation
    /// Azure's metadata service, for the machine's region: never through a proxy, and for seconds at most.
    case region
  }

  package var destination = Destination.provider
  /// The largest body of an answer that is taken, in bytes.
  package var bodyLimit = Fetcher.bodyLimit
  /// True if the fields of the answer's trailer section are wanted. They follow the others.
  package var takesTrailers = false
  /// True if an API has named the host, so that it may be at no private address.
  package var refusesPrivateAddresses = false
  /// Limit of the wait for the answer, once the request has been sent, if that is longer than the `Fetch` waits: for a
  /// request whose answer is useful after its callers are gone.
  public var answerLimit: TimeSpan?

  /// A request with `accept: application/json` unless other fields are given.
  public init(
    _ method: Method, _ url: HTTPURL, fields: [(name: String, value: String)] = [("accept", "application/json")]
  ) {
    self.method = method
    self.url = url
    self.fields = fields
  }
}

/// The answer to a `FetchRequest`, whatever its status. Redirects are never followed.
public struct FetchResponse: Sendable {
  /// The status code, 200 to 999.
  public var status: Int
  /// The fields in order, names in lower case.
  public var fields: [(name: String, value: String)]
  /// The decoded body, at most 1 MiB.
  public var body: [UInt8]

  /// An answer; tests make their own.
  public init(status: Int, fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// The first value of a field, by its lower-case name.
  public func value(of name: String) -> String? {
    fields.first { $0.name == name }?.value
  }
}

/// The reason why a fetch has no answer. Payloads name things that an operator can look up, never a secret.
public enum FetchError: Error, Sendable, Hashable {
  /// The host name has no address: the resolver's reason.
  case unresolved(host: String, reason: String)
  /// No address accepted a connection: the last errno.
  case unreachable(host: String, port: UInt16, errno: Int32)
  /// A proxy on the way cannot be reached, or makes no tunnel.
  case proxy(host: String, reason: String)
  /// The TLS handshake failed: OpenSSL's or the verifier's reason, and the cause.
  case tls(host: String, reason: String, cause: TLSFailure.Cause = .other)
  /// The peer closed or reset before the answer was whole.
  case closed(host: String)
  /// The answer is not HTTP, or breaks its framing.
  case malformed(host: String)
  /// The answer to plain HTTP is a TLS record.
  case answeredWithTLS(host: String)
  /// The answer is larger than 1 MiB.
  case tooLarge(host: String)
  /// The whole did not fit in its time limit.
  case timedOut(host: String)
}

/// The Identity module's way to an identity provider: bound by the assembly to a loop, a trust store and a time limit.
public typealias Fetch = @Sendable (FetchRequest) async throws(FetchError) -> FetchResponse
