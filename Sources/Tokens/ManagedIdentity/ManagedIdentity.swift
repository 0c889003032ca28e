package import Bytes
package import HTTP

/// A platform of Azure that gives out tokens for managed identities.
public enum ManagedIdentitySource: String, Sendable, Hashable, CaseIterable {
  /// The instance metadata service of virtual machines and Kubernetes nodes.
  case imds
  /// App Service, Functions, Container Apps, Automation.
  case appService = "app_service"
  /// Azure Machine Learning.
  case azureML = "azure_ml"
  case cloudShell = "cloud_shell"
  /// A machine that is connected by Azure Arc.
  case arc
  case serviceFabric = "service_fabric"
}

/// One of a machine's identities.
public enum ManagedIdentityID: Sendable, Hashable {
  /// The one that is the machine's own.
  case systemAssigned
  /// A user-assigned one, by its client id.
  case clientID(String)
  /// A user-assigned one, by its object (principal) id.
  case objectID(String)
  /// A user-assigned one, by its Azure resource id.
  case resourceID(String)

  /// Its name in logs and keys.
  package var name: String {
    switch self {
    case .systemAssigned: "system-assigned"
    case .clientID(let id), .objectID(let id), .resourceID(let id): id
    }
  }
}

/// The service that gives out tokens, with its address and secrets.
package enum ManagedIdentityHost: Sendable, Equatable {
  case imds(HTTPURL)
  case appService(HTTPURL, header: Secret)
  /// `defaultID`: the identity of the compute instance, if it has a user-assigned one.
  case azureML(HTTPURL, secret: Secret, defaultID: String?)
  case cloudShell(HTTPURL)
  case arc(HTTPURL)
  /// `thumbprint`: SHA-1 of its TLS certificate, by which alone it is trusted.
  case serviceFabric(HTTPURL, secret: Secret, thumbprint: [UInt8])

  package var endpoint: HTTPURL {
    switch self {
    case .imds(let url), .cloudShell(let url), .arc(let url): url
    case .appService(let url, _), .azureML(let url, _, _), .serviceFabric(let url, _, _): url
    }
  }

  package var source: ManagedIdentitySource {
    switch self {
    case .imds: .imds
    case .appService: .appService
    case .azureML: .azureML
    case .cloudShell: .cloudShell
    case .arc: .arc
    case .serviceFabric: .serviceFabric
    }
  }
}

package struct ManagedIdentity: Sendable, Equatable {
  package var host: ManagedIdentityHost
  package var id: ManagedIdentityID

  package init(_ id: ManagedIdentityID, at host: ManagedIdentityHost) throws(ManagedIdentityMistake) {
    switch (host.source, id) {
    case (_, .systemAssigned), (.imds, _), (.appService, _), (.arc, _), (.azureML, .clientID): break
    case (.azureML, _): throw .clientIDOnly
    case (.cloudShell, _), (.serviceFabric, _): throw .systemAssignedOnly(host.source)
    }
    self.host = host
    self.id = id
  }
}

/// A managed identity that cannot be used.
public enum ManagedIdentityMistake: Error, Sendable, Hashable {
  /// The source that was chosen needs a variable of the environment that is not there.
  case variableMissing(ManagedIdentitySource, String)
  /// A variable has no usable URL.
  case url(variable: String)
  /// Service Fabric needs TLS.
  case plaintext(variable: String)
  /// A variable holds no SHA-1 thumbprint.
  case thumbprint(variable: String)
  /// The source knows identities by their client id alone.
  case clientIDOnly
  /// The source has one identity, which its platform assigns.
  case systemAssignedOnly(ManagedIdentitySource)
}

/// The result of detecting a host.
package struct ManagedIdentityDetection: Sendable, Equatable {
  package let host: ManagedIdentityHost
  /// The variables of the environment or the file that decided; empty: none did.
  package let evidence: [String]

  package static let arcAgent = "/opt/azcmagent/bin/himds"

  /// Detects a host in the order of MSAL for .NET and Go: the first that matches.
  ///
  /// | variables | source |
  /// |---|---|
  /// | IDENTITY_ENDPOINT, IDENTITY_HEADER, IDENTITY_SERVER_THUMBPRINT | Service Fabric |
  /// | IDENTITY_ENDPOINT, IDENTITY_HEADER | App Service |
  /// | MSI_ENDPOINT, MSI_SECRET | Azure Machine Learning |
  /// | MSI_ENDPOINT | Cloud Shell |
  /// | IDENTITY_ENDPOINT, IMDS_ENDPOINT; or Arc's agent is installed | Azure Arc |
  /// | none of these | IMDS, without a probe |
  /// - Parameter chosen: the source that the configuration names; nil: the one that matches.
  package init(
    _ chosen: ManagedIdentitySource?, environment: [String: String], hasArcAgent: Bool
  ) throws(ManagedIdentityMistake) {
    let environment = EnvironmentVariables(environment)
    func has(_ names: String...) -> Bool { names.allSatisfy { environment[$0] != nil } }
    let found: ManagedIdentitySource =
      if has("IDENTITY_ENDPOINT", "IDENTITY_HEADER") {
        has("IDENTITY_SERVER_THUMBPRINT") ? .serviceFabric : .appService
      } else if has("MSI_ENDPOINT") {
        has("MSI_SECRET") ? .azureML : .cloudShell
      } else if has("IDENTITY_ENDPOINT", "IMDS_ENDPOINT") || hasArcAgent {
        .arc
      } else {
        .imds
      }
    let source = chosen ?? found
    var variables = Variables(source: source, environment: environment)
    switch source {
    case .imds:
      let base = "AZURE_POD_IDENTITY_AUTHORITY_HOST"
      host = .imds(try variables.url(base, standard: "http://169.254.169.254").at("/metadata/identity/oauth2/token"))
    case .appService:
      host = .appService(try variables.url("IDENTITY_ENDPOINT"), header: try variables.secret("IDENTITY_HEADER"))
    case .azureML:
      host = .azureML(
        try variables.url("MSI_ENDPOINT"), secret: try variables.secret("MSI_SECRET"),
        defaultID: environment["DEFAULT_IDENTITY_CLIENT_ID"])
    case .cloudShell: host = .cloudShell(try variables.url("MSI_ENDPOINT"))
    case .arc:
      let standard = "http://127.0.0.1:40342/metadata/identity/oauth2/token"
      let isByVariable = has("IDENTITY_ENDPOINT", "IMDS_ENDPOINT")
      host = .arc(
        isByVariable ? try variables.url("IDENTITY_ENDPOINT") : try variables.url("IMDS_ENDPOINT", standard: standard))
      if isByVariable { variables.used.append("IMDS_ENDPOINT") }
      if variables.used.isEmpty, hasArcAgent { variables.used = [Self.arcAgent] }
    case .serviceFabric:
      let url = try variables.url("IDENTITY_ENDPOINT")
      guard url.scheme == .https else { throw .plaintext(variable: "IDENTITY_ENDPOINT") }
      host = .serviceFabric(
        url, secret: try variables.secret("IDENTITY_HEADER"),
        thumbprint: try variables.thumbprint("IDENTITY_SERVER_THUMBPRINT"))
    }
    evidence = variables.used
  }

  /// Reads variables, and records which.
  private struct Variables {
    let source: ManagedIdentitySource
    let environment: EnvironmentVariables
    var used: [String] = []

    mutating func text(_ name: String) throws(ManagedIdentityMistake) -> String {
      guard let text = environment[name] else { throw .variableMissing(source, name) }
      used.append(name)
      return text
    }

    mutating func url(_ name: String, standard: String? = nil) throws(ManagedIdentityMistake) -> HTTPURL {
      let text: String
      if let standard, environment[name] == nil { text = standard } else { text = try self.text(name) }
      guard let url = HTTPURL(ifValid: text) else { throw .url(variable: name) }
      return url
    }

    mutating func secret(_ name: String) throws(ManagedIdentityMistake) -> Secret {
      let text = try self.text(name)
      // It becomes the value of a request's field.
      guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .variableMissing(source, name) }
      return Secret(text)
    }

    mutating func thumbprint(_ name: String) throws(ManagedIdentityMistake) -> [UInt8] {
      let digits = Array(try text(name).utf8).filter { $0 != UInt8(ascii: ":") }.map { ASCII.hexadecimalValue($0) }
      let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index -> UInt8? in
        guard let high = digits[index], let low = digits[index + 1] else { return nil }
        return high << 4 | low
      }
      guard digits.count == 40, bytes.count == 20 else { throw .thumbprint(variable: name) }
      return bytes
    }
  }
}

extension Authority {
  /// The audience of tokens that prove an application to Entra (federated identity credentials).
  package static let usualExchangeAudience = "api://AzureADTokenExchange"

  /// The same in this authority's cloud.
  package var exchangeAudience: String {
    switch kind {
    case .entra(_, .usGovernment): "api://AzureADTokenExchangeUSGov"
    case .entra(_, .china): "api://AzureADTokenExchangeChina"
    case .entra, .adfs, .b2c, .ciam, .issuer: Self.usualExchangeAudience
    }
  }

  /// The scopes that an application requests at Entra for such a token.
  /// - Parameter audience: one word. The caller has checked that.
  package func exchangeScopes(_ audience: String) -> ScopeSet { ScopeSet(validated: ["\(audience)/.default"]) }

  private static let managedHost = "managed-identity.invalid"

  /// The authority of managed identities' tokens. No provider is asked, and the name leads nowhere (RFC 6761 §6.4).
  package static func managedIdentity(_ source: ManagedIdentitySource) -> Authority {
    guard let authority = Authority(ifValid: "https://\(managedHost)/\(source.rawValue)") else {
      preconditionFailure("it is a URL")
    }
    return authority
  }

  package var isManagedIdentity: Bool { url.host == Self.managedHost }
}
