// `init --discover URL`: what an API says about its tokens, as a configuration, and what its provider must know about
// the application. Nothing is registered or written.

import Bytes
import Configuration
import HTTP
import HTTPClient
import Identity
import Platform
import Tokens

/// Reads an API's metadata and its provider's, and prints a configuration.
struct DiscoverCommand {
  let api: HTTPURL

  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    let network = try context.network()
    let proxies = ProxyEnvironment(context.environment) { _, _ in }
    let trust = try attempt(try TLSContext.client()) { (error: TLSConfigurationError) in
      CommandError.failed("the system's certification authorities cannot be read: \(error)")
    }
    let fetch = network.fetcher.bound(tls: trust) { proxies.proxy(for: $0) }
    do throws(DiscoveryFault) {
      let challenge = try await ResourceDirectory.challenge(of: api, fetch)
      guard
        let resource = try await ResourceDirectory.description(of: api, challenge: challenge?.resourceMetadata, fetch)
      else { return failure("it publishes no metadata (RFC 9728): its documentation says which tokens it takes") }
      let (metadata, members) = try await ResourceDirectory.provider(
        resource.issuers[0], isStranger: !api.isLoopback, fetch)
      let found = DiscoveredAPI(
        api: api, resource: resource.challenging(for: challenge?.scopes ?? .none),
        provider: DiscoveredProvider(metadata: metadata, members: members))
      return CommandAnswer(text: found.text, status: .done, stream: .output)
    } catch {
      return failure(error.words)
    }
  }

  private func failure(_ words: String) -> CommandAnswer {
    CommandAnswer(text: "bearer-proxy: \(api): \(words)\n", status: .failed)
  }
}

/// The metadata of an API and its provider, beside those that an application needs.
struct DiscoveredAPI {
  let api: HTTPURL
  let resource: ProtectedResource
  let provider: DiscoveredProvider

  /// The configuration, and below it what is to be registered.
  var text: String {
    var first = FirstConfiguration(secretFile: "app.secret")
    first.authority = provider.metadata.issuer
    first.clientID = "CHANGE"
    first.upstream = api.target.hasSuffix("/") ? "\(api)" : "\(api)/"
    first.path = first.suggestedPath
    first.scopes = resource.scopes.words.filter { !ScopeSet.reserved.contains($0) }
    first.resource = TokenParameters.normalResource(resource.resource)
    return first.yaml() + "\n# To register at \(provider.metadata.issuer), by hand:\n"
      + gaps.map { "# - \($0.printable(limit: 600))\n" }.joined()
  }

  /// The registrations and features that the provider must add, in its own words.
  var gaps: [String] {
    var gaps = [
      "a client for people: public, redirect_uris http://localhost and http://127.0.0.1 with any port, grant_types "
        + "authorization_code and refresh_token; or one with a secret for the application itself: grant_types "
        + "client_credentials, and 'as: application' with client_secret_file above",
      resource.scopes.isEmpty
        ? "the API names no scopes_supported: its documentation has them"
        : "scope: \(resource.scopes)",
      "resource: \(TokenParameters.normalResource(resource.resource)), if the provider restricts resources (RFC 8707)",
    ]
    gaps += provider.gaps(grants: ["authorization_code", "client_credentials"], scopes: resource.scopes)
    if resource.issuers.count > 1 {
      gaps.append("the API also takes tokens of \(resource.issuers.dropFirst().joined(separator: ", "))")
    }
    return gaps
  }
}

/// The metadata of a provider that an API names.
struct DiscoveredProvider {
  let metadata: ProviderMetadata
  let members: [String: JSONValue]

  /// The parts of requests for an API's tokens that the provider does not list, in its words.
  func gaps(grants: [String], scopes: ScopeSet) -> [String] {
    var gaps: [String] = []
    if grants.contains("authorization_code"), !metadata.supportsPKCE {
      gaps.append("code_challenge_methods_supported does not list S256: with require_pkce, people cannot sign in")
    }
    let known = texts("grant_types_supported")
    for grant in grants where known?.contains(grant) == false {
      gaps.append("grant_types_supported does not list \(grant)")
    }
    if let known = texts("scopes_supported") {
      let missing = scopes.words.filter { !known.contains($0) }
      if !missing.isEmpty {
        gaps.append("scopes_supported of the provider does not list \(missing.joined(separator: " ")) of the API")
      }
    }
    return gaps
  }

  private func texts(_ member: String) -> [String]? {
    guard case .array(let values)? = members[member] else { return nil }
    return values.compactMap(\.text)
  }
}
