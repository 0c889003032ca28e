package import HTTP

/// The identity of a pod: an application, its tenant, and the file with the service account's token.
package struct WorkloadIdentity: Sendable, Equatable {
  /// `AZURE_FEDERATED_TOKEN_FILE`.
  package var file: String
  /// `AZURE_CLIENT_ID`; nil if it is absent.
  package var clientID: String?
  /// `AZURE_TENANT_ID` at `AZURE_AUTHORITY_HOST`; nil if the environment names no tenant.
  package var authority: String?

  /// The default host, as in Azure's own libraries.
  private static let usualHost = "https://login.microsoftonline.com"

  package init(environment: [String: String]) throws(WorkloadIdentityMistake) {
    func text(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    guard let file = text("AZURE_FEDERATED_TOKEN_FILE") else { throw .variableMissing("AZURE_FEDERATED_TOKEN_FILE") }
    self.file = file
    clientID = text("AZURE_CLIENT_ID")
    authority = text("AZURE_TENANT_ID").map { tenant in
      var host = text("AZURE_AUTHORITY_HOST") ?? Self.usualHost
      while host.hasSuffix("/") { host.removeLast() }
      return Self.spelled("\(host)/\(tenant)")
    }
  }

  /// Spells an authority as Entra does: every such authority is Entra's or shaped like it, also at an unknown host.
  private static func spelled(_ text: String) -> String {
    do throws(AuthorityError) { return try Authority(text).kind == .issuer ? text + "/v2.0" : text } catch {
      return text
    }
  }
}

/// The proxy of an AKS identity binding, to which token requests go instead of the provider.
package struct TokenEndpointProxy: Sendable, Equatable {
  /// The trust in its certificate.
  package enum Trust: Sendable, Equatable {
    case system
    case file(String)
    case text(String)
  }

  /// Its address: https, without a query.
  package var url: HTTPURL
  /// The name in its certificate, if that is not the host.
  package var serverName: String?
  package var trust: Trust

  package init(environment: [String: String]) throws(WorkloadIdentityMistake) {
    func text(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let variable = "AZURE_KUBERNETES_TOKEN_PROXY"
    guard let address = text(variable) else { throw .variableMissing(variable) }
    guard let url = HTTPURL(ifValid: address), url.scheme == .https, !url.target.contains("?") else {
      throw .proxyURL(variable)
    }
    self.url = url
    serverName = text("AZURE_KUBERNETES_SNI_NAME")
    switch (text("AZURE_KUBERNETES_CA_FILE"), text("AZURE_KUBERNETES_CA_DATA")) {
    case (_?, _?): throw .twoTrusts("AZURE_KUBERNETES_CA_FILE", "AZURE_KUBERNETES_CA_DATA")
    case (let path?, nil): trust = .file(path)
    case (nil, let text?): trust = .text(text)
    case (nil, nil): trust = .system
    }
  }

  /// The address of a request to a provider's endpoint: the endpoint's path below the proxy's.
  package func address(for endpoint: HTTPURL) -> HTTPURL {
    url.at((url.target.hasSuffix("/") ? url.target.dropLast() : url.target[...]) + endpoint.target)
  }
}

/// An environment of a pod that cannot be used.
package enum WorkloadIdentityMistake: Error, Sendable, Hashable {
  case variableMissing(String)
  /// The variable holds no https URL without a query.
  case proxyURL(String)
  /// Two variables exclude one another.
  case twoTrusts(String, String)
}
