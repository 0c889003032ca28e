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

  package init(environment: [String: String]) throws(EnvironmentMistake) {
    let variables = EnvironmentVariables(environment)
    file = try variables.text("AZURE_FEDERATED_TOKEN_FILE")
    clientID = variables["AZURE_CLIENT_ID"]
    authority = variables["AZURE_TENANT_ID"].map { tenant in
      var host = variables["AZURE_AUTHORITY_HOST"] ?? Self.usualHost
      while host.hasSuffix("/") { host.removeLast() }
      return Self.spelled("\(host)/\(tenant)")
    }
  }

  /// Spells an authority as Entra does: every such authority is Entra's or shaped like it, also at an unknown host.
  private static func spelled(_ text: String) -> String {
    Authority(ifValid: text)?.kind == .issuer ? text + "/v2.0" : text
  }
}

/// The proxy of an AKS identity binding, to which token requests go instead of the provider.
package struct TokenEndpointProxy: Sendable, Equatable {
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

  package init(environment: [String: String]) throws(EnvironmentMistake) {
    let (variables, name) = (EnvironmentVariables(environment), "AZURE_KUBERNETES_TOKEN_PROXY")
    url = try variables.url(variables.text(name), of: name)
    guard url.scheme == .https, !url.target.contains("?") else { throw .url(name) }
    serverName = variables["AZURE_KUBERNETES_SNI_NAME"]
    switch (variables["AZURE_KUBERNETES_CA_FILE"], variables["AZURE_KUBERNETES_CA_DATA"]) {
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

/// Reads the variables of an environment. An empty one counts as absent.
struct EnvironmentVariables {
  private let environment: [String: String]

  init(_ environment: [String: String]) { self.environment = environment }

  subscript(name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

  func text(_ name: String) throws(EnvironmentMistake) -> String {
    guard let text = self[name] else { throw .missing(name) }
    return text
  }

  /// The URL in a text, which a variable decides.
  func url(_ text: String, of name: String) throws(EnvironmentMistake) -> HTTPURL {
    guard let url = HTTPURL(ifValid: text) else { throw .url(name) }
    return url
  }
}

/// A variable without which a pod or a job cannot prove an application.
package enum EnvironmentMistake: Error, Sendable, Hashable {
  /// The environment lacks it.
  case missing(String)
  /// It has no usable URL; for a proxy of token requests, no https URL without a query.
  case url(String)
  /// Its URL would show the job's token to the network.
  case plaintext(String)
  /// Two variables exclude one another.
  case twoTrusts(String, String)
}
