package import Bytes
package import HTTP

package struct ManagedIdentityRequest: Sendable {
  /// The whole address. A form goes by POST, everything else by GET.
  package let url: HTTPURL
  package private(set) var fields: [(name: String, value: String)]
  /// The content to post; nil: none.
  package let form: [UInt8]?
  /// The secrets that may not be shown in the answer.
  package let secrets: SentSecrets

  /// Asks for a token for a resource.
  /// - Parameters:
  ///   - capabilities: the application's (`xms_cc`); for Service Fabric alone.
  ///   - refused: SHA-256 of the token that an API refused for its claims; for Service Fabric alone.
  ///   - arcKey: the contents of the file that Azure Arc's agent named.
  package init(
    _ identity: ManagedIdentity, resource: String, capabilities: [String] = [], refused: [UInt8]? = nil,
    arcKey: Secret? = nil
  ) {
    var query = FormBody()
    var secret: Secret?
    fields = []
    switch identity.host {
    case .imds:
      query.append("api-version", "2018-02-01")
      fields = [("metadata", "true")]
    case .appService(_, let header):
      query.append("api-version", "2019-08-01")
      // Only Azure Automation looks at the second one.
      fields = [("x-identity-header", header.revealed()), ("metadata", "true")]
      secret = header
    case .azureML(_, let value, _):
      query.append("api-version", "2017-09-01")
      fields = [("secret", value.revealed()), ("metadata", "true")]
      secret = value
    case .cloudShell: fields = [("metadata", "true")]
    case .arc:
      query.append("api-version", "2020-06-01")
      fields = [("metadata", "true")]
      if let arcKey { fields.append(("authorization", "Basic \(arcKey.revealed())")) }
      secret = arcKey
    case .serviceFabric(_, let value, _):
      query.append("api-version", "2019-07-01-preview")
      fields = [("secret", value.revealed())]
      secret = value
    }
    fields.append(("accept", "application/json"))
    query.append("resource", resource)
    if let (name, value) = Self.parameter(identity) { query.append(name, value) }
    if case .serviceFabric = identity.host {
      if !capabilities.isEmpty { query.append("xms_cc", capabilities.joined(separator: ",")) }
      let digest = refused.map { String(decoding: ASCII.hexadecimalDigits(of: $0), as: UTF8.self) }
      if let digest { query.append("token_sha256_to_refresh", digest) }
    }
    secrets = SentSecrets(secret.map { [$0] } ?? [])
    let endpoint = identity.host.endpoint
    if case .cloudShell = identity.host {
      (url, form) = (endpoint, query.bytes)
    } else {
      (url, form) = (endpoint.adding(query: query.text), nil)
    }
  }

  /// A source's parameter for a user-assigned identity. IMDS and Arc have `msi_res_id`, App Service has `mi_res_id`.
  private static func parameter(_ identity: ManagedIdentity) -> (String, String)? {
    switch (identity.id, identity.host) {
    case (.systemAssigned, .azureML(_, _, let standard)): standard.map { ("clientid", $0) }
    case (.systemAssigned, _): nil
    case (.clientID(let id), .azureML): ("clientid", id)
    case (.clientID(let id), _): ("client_id", id)
    case (.objectID(let id), _): ("object_id", id)
    case (.resourceID(let id), .appService): ("mi_res_id", id)
    case (.resourceID(let id), _): ("msi_res_id", id)
    }
  }
}

extension ScopeSet {
  /// The only scope, less its `/.default`; nil if there are several or none.
  package var resource: String? {
    guard words.count == 1 else { return nil }
    let suffix = "/.default"
    return words[0].hasSuffix(suffix) ? String(words[0].dropLast(suffix.count)) : words[0]
  }
}

/// The rule for repeating a request to such a service (MSAL for .NET's rules).
package struct ManagedIdentityRetry: Sendable {
  private let source: ManagedIdentitySource
  private var attempts = 0

  package init(_ source: ManagedIdentitySource) { self.source = source }

  /// Seconds until the next attempt after an answer with this status; nil: it was the last.
  ///
  /// | source | statuses | tries | seconds between |
  /// |---|---|---|---|
  /// | IMDS | 404, 408, 429, 5xx | 3 | 1, 2, 4 |
  /// | any other | 404, 408, 429, 500, 503, 504 | 3 | 1 |
  ///
  /// After an answer with `Retry-After` there is none: callers get that pause at once instead of waiting for it.
  package mutating func pause(after status: Int, retryAfter: Int64?) -> Int64? {
    attempts += 1
    guard attempts <= 3, retryAfter == nil else { return nil }
    return switch (source, status) {
    case (.imds, 404), (.imds, 408), (.imds, 429), (.imds, 500...599): 1 << Int64(attempts - 1)
    case (.imds, _): nil
    case (_, 404), (_, 408), (_, 429), (_, 500), (_, 503), (_, 504): 1
    default: nil
    }
  }

  /// Seconds without requests after this status. IMDS that is being updated (410) is back within 70 s.
  package func pause(after status: Int) -> Int64? {
    source == .imds && status == 410 ? 10 : nil
  }
}
