// The trial of a changed certificate that tokens are bound to, before it is in force. A held token of the former
// certificate is of no use with the new one, so it cannot serve until the new one has obtained its own: the former
// certificate itself stays until then.

import Bytes
import Configuration
import HTTPClient
import Identity
import Platform
import Proxy
import Telemetry
import Tokens

/// Tries the certificates of a configuration that has been read.
struct BoundCertificateProof: Sendable {
  private let log: Log
  private let broker: TokenBroker
  private let fetcher: Fetcher
  private let tracer: Tracer?
  private let former: LoadedConfiguration
  private let credentials: CredentialVersions

  /// The time until a certificate that obtained no token is tried again.
  static let pause = Duration.seconds(60)

  init(_ composition: Composition, _ generation: Generation) {
    (log, broker) = (composition.log, composition.broker)
    (fetcher, tracer) = (composition.machinery.fetcher, composition.process.tracer)
    former = generation.configuration
    credentials = generation.credentials
  }

  /// The reading with the former certificates in the place of those that obtain no token.
  func proven(_ reading: ConfigurationSource.Reading) async -> ConfigurationSource.Reading {
    guard case .success(let next)? = reading.result else { return reading }
    var kept: Set<String> = []
    for application in changed(in: next) {
      guard let failure = await failure(of: application, in: next) else { continue }
      kept.insert(application.name)
      log.warning(
        "changed certificate obtained no token, the former one stays in use",
        [
          "application": .string(application.name),
          "thumbprint": .string(next.certificates.thumbprint(of: application.name) ?? ""),
          "reason": .string(failure.reason), "detail": .string(failure.detail), "next": .next(.boundCertificate),
        ])
    }
    if kept.isEmpty { return reading }
    let result = Result { () throws(ConfigurationError) in try next.keepingCertificates(of: kept, from: former) }
    return ConfigurationSource.Reading(result: result, state: reading.state, keptCertificates: kept)
  }

  /// The applications whose tokens are bound, and whose certificate is another than before.
  private func changed(in next: LoadedConfiguration) -> [ApplicationSettings] {
    next.settings.applications.filter { application in
      guard let new = next.certificates.shownToUpstreams(by: application),
        let same = former.settings.application(named: application.name),
        same.authority.value == application.authority.value, same.clientID == application.clientID,
        let old = former.certificates.shownToUpstreams(by: same)
      else { return false }
      return new != old
    }
  }

  /// The reason why an application's certificate obtains no token for its routes; nil if it does, or is not tried: a
  /// person's refresh token is not spent on it.
  private func failure(of application: ApplicationSettings, in next: LoadedConfiguration) async -> AcquisitionError? {
    var credentials = credentials
    credentials.follow(next.settings.applications, next.certificates)
    let providers = Providers(contexts: next.contexts, fetcher: fetcher, tracer: tracer)
    let token = next.settings.routes.lazy.compactMap(\.token.issued).first {
      $0.application == application.name && $0.subject == .application
    }
    guard let subscription = next.subscription(of: token, credentials: credentials, fetch: providers.fetch)
    else { return nil }
    do throws(AcquisitionError) {
      _ = try await broker.bearer(for: subscription)
      return nil
    } catch {
      return error
    }
  }
}
