// Owns what to do about each thing that `check --live` can find wrong. Pure; what was found is LiveCheck's.

import Configuration
import HTTPClient
import Identity
import Platform
import Tokens

/// What an operator can do.
struct CheckAdvice {
  let configuration: String
  let route: RouteSettings
  /// The route's application, where it has one.
  let application: ApplicationSettings?

  private var section: String { application.map { "application '\($0.name)'" } ?? "the application" }

  /// About a token, or the authority's metadata.
  func advice(_ error: AcquisitionError) -> String {
    switch error {
    case .providerUnavailable(.unreached(let error), _): advice(error)
    case .providerUnavailable(.answered, _):
      "The provider has trouble of its own. Try again later, and look at its status page."
    case .providerUnavailable(.assertion, _):
      "Look at the file that 'client_assertion_file' of \(section) names: it has to hold a JWT that this user may read."
    case .unusableMetadata:
      "Check 'authority' of \(section): it is the issuer, below which /.well-known/openid-configuration stands."
    case .cacheUnavailable:
      "See what is said about the cache above: no account can be found in it until it is repaired."
    case .interactionRequired(let required) where required.reason == .accountAmbiguous:
      "Name one of those that 'bearer-proxy accounts -c \(configuration)' lists under the route's token, as 'account'."
    case .interactionRequired: "Sign in with: bearer-proxy login -c \(configuration) --route \(route.name)"
    case .rejected(let reply, _): advice(reply)
    }
  }

  private func advice(_ reply: TokenErrorReply) -> String {
    switch reply.error {
    case "invalid_client":
      "Check 'client_id' and the client secret of \(section): it may have expired, or be another application's."
    case "unauthorized_client":
      "The provider does not let \(section) ask this way: allow it there, or check 'client_id' and 'authority'."
    case "invalid_scope", "invalid_target", "invalid_resource":
      "Check the scopes of the route: the provider knows no such."
    case "access_denied", "invalid_grant": "Grant \(section) what it asks for, at the provider."
    default: "Look the code up in the provider's documentation; what it is about is \(section)."
    }
  }

  private func advice(_ error: FetchError) -> String {
    switch error {
    case .unresolved: "Is the host in 'authority' of \(section) spelt right, and does this machine's resolver know it?"
    case .unreachable, .timedOut: "Does a firewall stand between this machine and the provider?"
    case .tls:
      "Name the authority that issued the provider's certificate in 'tls: {ca_file: …}' of \(section); a device in "
        + "between may show one of its own."
    case .proxy: Self.proxyAdvice
    case .closed, .malformed, .tooLarge:
      "Is 'authority' of \(section) the provider's address, and not some other service's?"
    }
  }

  private static let proxyAdvice =
    "It is the proxy of HTTPS_PROXY or of the configuration. 'proxy: none' avoids it, and NO_PROXY lists hosts that are "
    + "reached directly."

  /// About the way to the upstream.
  func advice(_ error: UpstreamError) -> String {
    switch error {
    case .connect(.unresolved): "Is the host in 'upstream' spelt right, and does this machine's resolver know it?"
    case .connect(.forbiddenAddress): "Such an address is never contacted. Which name was meant?"
    case .connect(.refused): "Nothing listens at that address and port, or a firewall refuses."
    case .connect(.timedOut), .timedOut:
      "Does a firewall drop what goes there? 'timeouts: {connect: …}' says how long is waited."
    case .proxyUnreachable, .proxy: Self.proxyAdvice
    case .connect(.handshake), .tls:
      "Name the authority that issued the upstream's certificate in 'tls: {ca_file: …}', or the certificate's name in "
        + "'server_name'."
    }
  }

  /// About a probe's answer; nil where it is as it should be.
  func advice(status: Int) -> String? {
    switch status {
    case 200..<400: nil
    case 401 where application == nil: "The upstream wants to know who calls, and the route has no token."
    case 401:
      "The upstream does not take the token. Is it for this API? Compare the route's scopes with what the API expects."
    case 403: "The token is right and not enough: which permission or scope does the API want?"
    case 404, 405, 410: "Is there something to GET at this path? Set 'probe' to a path that there is."
    case 429: "The upstream wants to be left alone for a while."
    case 500...: "The upstream has trouble of its own."
    default: "What does the upstream's documentation say about this status?"
    }
  }
}

extension CheckAdvice {
  /// About the way to a cache's server.
  static func cacheAdvice(_ error: UpstreamError, isHandshake: Bool = false) -> String {
    switch error {
    case .connect(.unresolved): "Is the host in 'redis' spelt right, and does this machine's resolver know it?"
    case .connect(.forbiddenAddress): "Such an address is never contacted. Which name was meant?"
    case .connect(.refused), .proxyUnreachable, .proxy: "Does the server run, and listen at that address and port?"
    case .connect(.timedOut) where isHandshake, .timedOut where isHandshake:
      "Does the server speak TLS at that port? 'redis:' is without."
    case .connect(.timedOut), .timedOut: "Does a firewall drop what goes there?"
    case .connect(.handshake), .tls:
      "Name the authority that issued the server's certificate in 'tls: {ca_file: …}' of the cache; a server that asks "
        + "for a client certificate needs 'certificate_file' and 'key_file' there."
    }
  }

  /// About reading and locking.
  static func cacheAdvice(_ error: CacheStoreError) -> String {
    switch error {
    case .damaged:
      "Nothing overwrites the file. Repair it, or move it away: the cache is then empty, and every person signs in again."
    case .file: "Look at owner and mode of the file and its directory: they have to be this user's alone."
    case .contended: "Fewer processes may have to share this cache: look at how often each of them writes it."
    case .locked: "If the process that holds the lock is gone, remove the lock file."
    case .lock: "The directory of the cache has to be one that this user may write."
    case .server(.credentials): "Check 'user' and 'password' of the cache against the server's access control list."
    case .server(.refused):
      "The server's user needs the commands that config/cache.md lists, on keys that begin with 'key_prefix'; a replica takes "
        + "no writes."
    case .server(.damaged): "Look at that key with HGETALL. Delete it, and the person it belongs to signs in again."
    case .server(.unreachable(let error)): cacheAdvice(error)
    case .server:
      "Is it a Redis server that listens there, with TLS where 'rediss:' says so, and has it room to answer?"
    }
  }
}
