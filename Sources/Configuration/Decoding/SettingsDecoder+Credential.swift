// `credential`, and the keys that are short for it.

import Bytes
import HTTP
import Tokens

extension Key {
  /// The keys that give a credential; an application has one of them.
  static let credentials = [clientSecret, clientSecretFile, clientAssertionFile, credential]
}

extension SettingsDecoder {
  /// nil if there is none, or if it cannot be used.
  /// - Parameters:
  ///   - authority: the provider's, if it is valid.
  ///   - workload: the environment of a pod, if `credential` asks for it.
  mutating func credential(
    _ application: Section, at authority: Authority?, _ workload: WorkloadIdentity? = nil
  ) -> CredentialSettings? {
    let section = self.section(application, .credential)
    let secret = clientSecret(application, .clientSecret, file: .clientSecretFile)
    let assertion = assertionFile(application, .clientAssertionFile)
    return section.flatMap { kind($0, at: authority, workload) } ?? secret.map { .secret($0) }
      ?? assertion.map { .assertionFile(Self.settings($0)) }
  }

  /// A client secret of a length that can be kept out of logs and answers.
  private mutating func clientSecret(_ section: Section, _ key: Key, file fileKey: Key) -> Secret? {
    guard let secret = secret(section, key, file: fileKey) else { return nil }
    if secret.count >= SentSecrets.shortest { return secret }
    guard let node = section[key] ?? section[fileKey] else { return nil }
    return refuse(
      node,
      "a client secret has at least \(SentSecrets.shortest) bytes; a shorter one is a mistake, or the provider must "
        + "give another")
  }

  private static func settings(
    _ file: Located<String>, _ type: ClientAssertionType = .jwtBearer, _ proxy: TokenProxySettings? = nil,
    variables: [String] = []
  ) -> AssertionFileSettings {
    AssertionFileSettings(file: file, type: type, tokenProxy: proxy, variables: variables)
  }

  private mutating func kind(
    _ section: Section, at authority: Authority?, _ workload: WorkloadIdentity?
  ) -> CredentialSettings? {
    let decoded = section.shape.rows.map(\.key).map { kind -> CredentialSettings? in
      guard let inner = self.section(section, kind) else { return nil }
      switch kind {
      case .secret:
        return clientSecret(inner, .value, file: .valueFile).map { .secret($0) }
      case .assertion:
        let type = chosen(inner, .type, of: ClientAssertionType.self)
        return assertionFile(inner, .file).map { .assertionFile(Self.settings($0, type)) }
      case .assertionCommand: return assertionCommand(inner).map { .assertionCommand($0) }
      case .certificate: return certificate(inner).map { .certificate($0) }
      case .mutualTLS: return mutualTLS(inner, at: authority)
      case .managedIdentity: return managedIdentity(inner).map { .managedIdentity($0) }
      case .federated: return federated(inner, at: authority)
      default: return workloadIdentity(inner, workload).map { .assertionFile($0) }
      }
    }
    return decoded.compactMap(\.self).first
  }

  /// The environment of a pod whose application proves itself with the service account's token.
  mutating func workloadIdentity(at place: Place, path: String) -> WorkloadIdentity? {
    do throws(EnvironmentMistake) {
      return try WorkloadIdentity(environment: environment)
    } catch {
      return refuse(place, "\(path): \(reason(error))")
    }
  }

  private mutating func workloadIdentity(_ section: Section, _ workload: WorkloadIdentity?) -> AssertionFileSettings? {
    var proxy: TokenProxySettings?
    if boolean(section, .tokenProxy), let place = section[.tokenProxy]?.located(true) {
      do throws(EnvironmentMistake) {
        let settings = try TokenEndpointProxy(environment: environment)
        var caFile: Located<String>?
        if case .file(let path) = settings.trust {
          filesRead.insert(path)
          caFile = place.located(path)
        }
        proxy = TokenProxySettings(proxy: settings, caFile: caFile, place: place)
      } catch {
        return refuse(place, reason(error))
      }
    }
    guard let workload else { return nil }
    let file = section.located(workload.file)
    checkAssertion(file)
    return Self.settings(file, .jwtBearer, proxy, variables: ["AZURE_FEDERATED_TOKEN_FILE"])
  }

  private func reason(_ mistake: EnvironmentMistake) -> String {
    switch mistake {
    case .missing(let name) where name.hasPrefix("ACTIONS"):
      "the environment has no \(name): a job has it with the permission 'id-token: write'"
    case .missing(let name) where name.hasPrefix("AZURE_KUBERNETES"):
      "the environment has no \(name): does the cluster have an identity binding for this service account?"
    case .missing(let name):
      "the environment has no \(name): does the pod have the label azure.workload.identity/use, and a service account "
        + "with a client id?"
    case .url(let name) where name.hasPrefix("AZURE"): "the environment's \(name) is no https URL without a query"
    case .url(let name): "the environment's \(name) is no http or https URL"
    case .plaintext(let name): "the environment's \(name) is not https: the job's token would travel in clear"
    case .twoTrusts(let one, let other): "the environment has both \(one) and \(other); keep one"
    }
  }

  /// A token that another issuer hands out, as the application's proof.
  private mutating func federated(_ section: Section, at authority: Authority?) -> CredentialSettings? {
    let source = federatedSource(section)
    let audience = audience(section)
    guard let source else { return nil }
    return .federated(source, audience: audience ?? authority?.exchangeAudience ?? Authority.usualExchangeAudience)
  }

  /// The audience, which is one word: it becomes a scope at some providers.
  private mutating func audience(_ section: Section) -> String? {
    guard let scalar = scalar(section, .audience) else { return nil }
    do throws(ScopeError) {
      _ = try ScopeSet([scalar.text])
      return scalar.text
    } catch {
      return refuse(scalar, "'\(scalar.written)' is not one word without blanks, quotes and backslashes")
    }
  }

  private mutating func federatedSource(_ section: Section) -> FederatedSourceSettings? {
    if let inner = self.section(section, .gcp) {
      return service(inner, FederatedTokenService.gcp(environment:))
    }
    if let inner = self.section(section, .githubActions) {
      return service(inner, FederatedTokenService.githubActions(environment:))
    }
    if section.members[.application] != nil {
      return scalar(section, .application).map { .application($0.located($0.text)) }
    }
    return federatedIdentity(section)
  }

  private mutating func service(
    _ section: Section, _ found: ([String: String]) throws(EnvironmentMistake) -> FederatedTokenService
  ) -> FederatedSourceSettings? {
    do throws(EnvironmentMistake) {
      return .service(try found(environment))
    } catch {
      return refuse(section, reason(error))
    }
  }

  /// A token of the machine's identity.
  private mutating func federatedIdentity(_ section: Section) -> FederatedSourceSettings? {
    guard let inner = self.section(section, .managedIdentity), let settings = managedIdentity(inner) else { return nil }
    // On the others, the platform decides which identity it is.
    if settings.identity.id == .systemAssigned, [.imds, .appService, .arc].contains(settings.identity.host.source) {
      return refuse(
        inner, that: "names no identity: as a credential only a user-assigned one is accepted; write its 'client_id'")
    }
    return .managedIdentity(settings)
  }

  /// An identity of the machine; which service has its tokens, the environment says.
  private mutating func managedIdentity(_ section: Section) -> ManagedIdentitySettings? {
    let source = choice(section, .source, of: ManagedIdentitySource.self)
    let ids = [Key.clientID, .objectID, .resourceID].filter { section.members[$0] != nil }
    let id = ids.first.flatMap { key in scalar(section, key).map { (key, $0.text) } }
    if ids.count != (id == nil ? 0 : 1) || (source == nil && section.members[.source] != nil) { return nil }
    let identityID: ManagedIdentityID =
      switch id {
      case (.clientID, let text)?: .clientID(text)
      case (.objectID, let text)?: .objectID(text)
      case (.resourceID, let text)?: .resourceID(text)
      default: .systemAssigned
      }
    do throws(ManagedIdentityMistake) {
      let detection = try ManagedIdentityDetection(source, environment: environment, hasArcAgent: hasArcAgent)
      return ManagedIdentitySettings(
        identity: try ManagedIdentity(identityID, at: detection.host), detection: detection, isChosen: source != nil)
    } catch {
      let place = section[ids.first ?? .source]?.place ?? section.place
      return refuse(place, "\(section.path): \(reason(error))")
    }
  }

  /// True if the agent of Azure Arc is installed: a program that every user may read.
  private var hasArcAgent: Bool { files.findExposure(ManagedIdentityDetection.arcAgent) != nil }

  private func reason(_ mistake: ManagedIdentityMistake) -> String {
    switch mistake {
    case .variableMissing(let source, let name):
      "source '\(source.rawValue)' needs the variable \(name), which the environment does not have"
    case .url(let name): "the environment's \(name) is no http or https URL"
    case .plaintext(let name): "the environment's \(name) is not https, which Service Fabric speaks"
    case .thumbprint(let name): "the environment's \(name) is no SHA-1 thumbprint of 40 hexadecimal digits"
    case .clientIDOnly: "azure_ml knows an identity by its client_id alone"
    case .systemAssignedOnly(let source):
      "\(source.rawValue) has one identity, which is assigned where it runs: leave its id out"
    }
  }

  /// A file that is read when it is wanted. It changes every hour, which is no reason to read the configuration again.
  private mutating func assertionFile(_ section: Section, _ key: Key) -> Located<String>? {
    guard let file = path(section, key) else { return nil }
    checkAssertion(file)
    return file
  }

  private mutating func checkAssertion(_ file: Located<String>) {
    do throws(UnreadableFile) {
      _ = try files.read(file.value, 64 << 10)
      reportAccess(to: file)
    } catch {
      report(file, "cannot read \(file.value): \(error.reason)")
    }
  }

  private mutating func certificate(_ section: Section) -> CertificateSettings? {
    let files = credentialFiles(section)
    let algorithm = choice(section, .algorithm, of: ClientAssertionAlgorithm.self)
    let keyID = scalar(section, .keyID)?.text
    let sendsChain = boolean(section, .sendChain)
    let audience = chosen(section, .audience, of: ClientAssertionAudience.self)
    let claims = assertionClaims(section)
    guard let (files, passphrase) = files else { return nil }
    return CertificateSettings(
      files: files, passphrase: passphrase, algorithm: algorithm.flatMap { section[.algorithm]?.located($0) },
      keyID: keyID,
      sendsChain: sendsChain, audience: audience, claims: claims)
  }

  private mutating func assertionClaims(_ section: Section) -> AssertionClaims {
    let scalars = values(section, .claims)
    let path = section.path(.claims)
    do throws(AssertionClaimsError) {
      return try AssertionClaims(scalars.mapValues(\.text))
    } catch {
      let place = section[.claims]?.place ?? section.place
      switch error {
      case .tooMany: report(place, "\(path) has more than \(AssertionClaims.limit) claims")
      case .name(let name): report(scalars[name]?.place ?? place, "\(path): a claim's name has 1 to 64 bytes")
      case .reserved(let name):
        report(
          scalars[name]?.place ?? place, "\(path).\(name): each assertion has a value of its own for it; leave it out")
      case .value(let name): report(scalars[name]?.place ?? place, "\(path).\(name) has more than 1024 bytes")
      }
      return .none
    }
  }

  /// A certificate that is shown in the TLS handshake.
  private mutating func mutualTLS(_ section: Section, at authority: Authority?) -> CredentialSettings? {
    let files = credentialFiles(section)
    let hasBoundTokens = boolean(section, .boundTokens)
    if let authority, authority.url.scheme == .http {
      return refuse(section, that: "needs an authority with https:, whose handshake shows the certificate")
    }
    guard let (files, passphrase) = files else { return nil }
    return .mutualTLS(
      CertificateSettings(
        files: files, passphrase: passphrase, algorithm: nil, keyID: nil, sendsChain: false,
        audience: .tokenEndpoint), hasBoundTokens: hasBoundTokens)
  }

  /// The files with certificate and key, and what they are encrypted with.
  private mutating func credentialFiles(_ section: Section) -> (
    files: CertificateSettings.Files, passphrase: Located<Secret>?
  )? {
    let files = certificateOrArchive(section)
    let passphrase = secret(section, .passphrase, file: .passphraseFile)
    let node = section[.passphrase] ?? section[.passphraseFile]
    return files.map { ($0, passphrase.flatMap { node?.located($0) }) }
  }

  /// PEM files, of which the key's may be the certificate's; or an archive.
  private mutating func certificateOrArchive(_ section: Section) -> CertificateSettings.Files? {
    let certificate = readableFile(section, .certificateFile)
    let key = readableFile(section, .keyFile)
    let archive = readableFile(section, .pfxFile)
    for secret in [key ?? certificate, archive].compactMap(\.self) { reportExposure(of: secret) }
    return archive.map { .archive($0) }
      ?? certificate.map { .pem(CertificateFiles(certificateFile: $0, keyFile: key ?? $0)) }
  }
}
