// What to do about each thing that `check --live` can find wrong. Pure; what was found is LiveCheck's.

import Configuration
import Glibc
import HTTP
import HTTPClient
import Identity
import Platform
import Proxy
import Tokens

/// What an operator can do.
struct CheckAdvice {
  let commands: OperatorCommands
  let route: RouteSettings
  /// The route's application, where it has one.
  let application: ApplicationSettings?
  /// The thumbprint of the certificate that the application proves itself with, where it has one.
  let thumbprint: String?

  /// The agent identity that it is about.
  private var agent: String?

  init(
    _ commands: OperatorCommands, route: RouteSettings, application: ApplicationSettings?, thumbprint: String? = nil
  ) {
    self.commands = commands
    self.route = route
    self.application = application
    self.thumbprint = thumbprint
    agent = route.token.agent
  }

  var section: String {
    let name = application.map { "application '\($0.name)'" } ?? "the application"
    return agent.map { "agent \($0) of \(name)" } ?? name
  }

  /// About a token, or the authority's metadata.
  func advice(_ error: AcquisitionError) -> String {
    if let identity = application?.managedIdentity, let advice = Self.advice(error, identity) { return advice }
    if case .providerUnavailable(.proof(let source, let error), _) = error { return advice(source, error) }
    return switch error {
    case .providerUnavailable(.unreached(let error), _): advice(error)
    case .providerUnavailable(.answered, _):
      "The provider has trouble of its own. Try again later, and look at its status page."
    case .providerUnavailable(.proof, _): "Look at what proves \(section)."
    case .providerUnavailable(.managedIdentity(.arcKey), _):
      "Only members of the group 'himds' may read the agent's keys: add the proxy's user to it (usermod -aG himds "
        + "USER)."
    case .providerUnavailable(.managedIdentity(.notConfirmed), _):
      "Update the agent of Azure Arc, which ignores user-assigned identities, or leave the identity's id out."
    case .providerUnavailable(.managedIdentity(.arcChallenge), _):
      "Is it the agent of Azure Arc that listens at IDENTITY_ENDPOINT?"
    case .providerUnavailable(.assertion(.unsigned), _):
      "Try again. If it stays so, look at the key of \(section): OpenSSL makes no signature with it."
    case .providerUnavailable(.assertion(.expired(let origin, _)), _): advice(expired: origin)
    case .providerUnavailable(.assertion, _):
      "Look at the file that 'client_assertion_file' of \(section) names: it has to hold a JWT that this user may read."
    case .unusableMetadata:
      "Check 'authority' of \(section): it is the issuer, below which /.well-known/openid-configuration stands."
    case .cacheUnavailable:
      "See what is said about the cache above: no account can be found in it until it is repaired."
    case .interactionRequired(let required): commands.advice(required.reason, route: route.name)
    case .providerUnavailable(.actor(.expired(let origin, _)), _): advice(expired: origin)
    case .providerUnavailable(.actor, _):
      "Look at the file that 'actor' of the route names: it has to hold a JWT that this user may read."
    case .assertionRefused: "Nothing is to be done here: the caller is told what its token lacks."
    case .rejected(let reply, _): advice(reply)
    }
  }

  /// About who hands out what proves the application.
  private func advice(_ source: ClientProofSource, _ error: AcquisitionError) -> String {
    switch source {
    case .managedIdentity:
      return application?.machineIdentity.flatMap { Self.advice(error, $0) } ?? advice(error)
    case .gcp:
      return "Is this a machine, pod or job of Google Cloud with a service account, and does no network policy keep "
        + "the proxy from its metadata server?"
    case .command(let program): return advice(command: program, error)
    case .githubActions:
      return "Has the job 'permissions: {id-token: write}', and does it still run? Its token ends with it."
    case .application where agent != nil:
      if case .rejected(let reply, _) = error, reply.error != "invalid_client" { return advice(reply) }
      var blueprint = self
      blueprint.agent = nil
      return blueprint.advice(error)
    case .application(let name):
      return "Correct application '\(name)' first: its tokens prove \(section). A route of its own shows more in "
        + "'check --live'."
    }
  }

  /// About the service of a managed identity; nil where its kind does not matter.
  private static func advice(_ error: AcquisitionError, _ identity: ManagedIdentitySettings) -> String? {
    let names = identity.detection.evidence
    let found = names.isEmpty ? "" : ", or were \(names.joined(separator: ", ")) left over from elsewhere"
    return switch error {
    case .providerUnavailable(.answered(status: 410), _):
      "The service is being updated, and is back within 70 s. The proxy asks again by itself."
    case .providerUnavailable(.answered(status: 429), _):
      "The service wants to be left alone, and the proxy keeps to that. If it stays so, find what else on this machine "
        + "asks it all the time."
    case .providerUnavailable(.unreached, _), .providerUnavailable(.answered, _):
      "Is this a machine of Azure's with an identity, does a network policy keep the proxy from that address\(found)? "
        + "'source' of 'managed_identity' overrules what was found."
    case .rejected:
      "Assign the identity to this machine, or correct its id under 'managed_identity'. What was assigned a moment ago "
        + "is "
        + "known some minutes later; the proxy asks again every minute."
    case .providerUnavailable, .unusableMetadata, .cacheUnavailable, .interactionRequired, .assertionRefused: nil
    }
  }

  private func advice(_ reply: TokenErrorReply) -> String {
    if reply.isWithoutCode { return advice(withoutCode: reply) }
    return switch reply.error {
    case TokenErrorReply.boundElsewhere:
      "Set 'bound_tokens: true' under 'mutual_tls' of \(section), so that upstreams are shown the certificate; or have "
        + "the provider give tokens that are not bound."
    case "invalid_client" where reply.clockSkew != nil: Self.clockAdvice
    case "invalid_client" where agent != nil, "unauthorized_client" where agent != nil:
      "Check 'agent' and the tenant: it has to be an agent identity of the tenant whose blueprint is application "
        + "'\(application?.name ?? "")'."
    case "interaction_required" where agent != nil, "consent_required" where agent != nil:
      "Nobody signs in for an agent: look at the consent and the Conditional Access policies for \(section)."
    case "invalid_client" where application?.isKnownByHandshake == true:
      "Register the certificate with the thumbprint \(thumbprint ?? "") for \(section) at the provider, with "
        + "tls_client_auth or self_signed_tls_client_auth, and check 'client_id'. Does the token endpoint, or its "
        + "alias in mtls_endpoint_aliases, ask for certificates?"
    case "invalid_client" where application?.assertionCommand != nil:
      "Compare the JWT that the command of \(section) prints with what is registered at the provider: issuer, subject "
        + "and audience ('check --live' shows them), the key that signs it, and its times."
    case "invalid_client" where application?.isProvenByOthers == true,
      "invalid_request" where application?.isProvenByOthers == true:
      "Register a federated credential for \(section) with exactly the issuer, subject and audience of the token that "
        + "proves it: 'check --live' shows them. What was registered a moment ago is known some minutes later; the "
        + "proxy asks again every 10 seconds for 5 minutes, then every minute."
    case "invalid_client" where thumbprint != nil:
      "Register the certificate with the thumbprint \(thumbprint ?? "") for \(section) at the provider, and check "
        + "'client_id' and 'authority'. If it is registered, does the provider want another 'algorithm', 'key_id', "
        + "'audience' or 'send_chain'?"
    case "invalid_client":
      "Check 'client_id' and the client secret of \(section): the secret may be wrong, have expired, or be another "
        + "application's; the portal's list shows a secret's id, which is not the secret."
    case "unauthorized_client":
      "The provider does not let \(section) ask this way: allow it there, or check 'client_id' and 'authority'."
    case "invalid_scope", "invalid_target", "invalid_resource":
      scopesAdvice
    case "access_denied", "invalid_grant": "Grant \(section) what it asks for, at the provider."
    default: "Look the code up in the provider's documentation; what it is about is \(section)."
    }
  }

  private func advice(_ error: FetchError) -> String {
    switch error {
    case .unresolved: "Is the host in 'authority' of \(section) spelt right, and does this machine's resolver know it?"
    case .unreachable(_, _, ECONNREFUSED):
      "Nothing listens at that address and port, or a firewall refuses: is 'authority' of \(section) right?"
    case .unreachable, .timedOut: "Does a firewall stand between this machine and the provider?"
    case .tls(_, _, let cause):
      Self.tlsAdvice(
        cause, of: "provider", name: "Is the host in 'authority' of \(section) the one that the certificate names?",
        trust: Trust("'tls: {ca_file: …}' of \(section)", application?.caFile), address: "'authority'")
    case .answeredWithTLS: "The provider speaks TLS at that port: write https: in 'authority' of \(section)."
    case .proxy: Self.proxyAdvice
    case .closed, .malformed, .tooLarge:
      "Is 'authority' of \(section) the provider's address, and not some other service's?"
    }
  }

  /// About scopes that a provider does not take.
  var scopesAdvice: String {
    "Check 'scopes' of the route: the provider does not know them, or \(section) may not ask for them."
  }

  /// About a redirect URI that a provider does not take.
  func advice(redirectURI: String, isPage: Bool) -> String {
    "Register the redirect URI \(redirectURI) for client_id \(application?.clientID ?? "") at the provider, and check "
      + "'client_id' of \(section)."
      + (isPage ? "" : " If another one of this machine is registered, 'login' takes it with --port or --redirect-uri.")
  }

  /// About a clock that is wrong.
  static let clockAdvice =
    "Set this machine's clock (a container has its host's) and keep it right (timedatectl set-ntp true, or "
    + "chrony): else tokens are used after their end, or not at all."

  private static let proxyAdvice =
    "It is the proxy of HTTPS_PROXY or of the configuration. 'proxy: none' avoids it, and NO_PROXY lists hosts that "
    + "are reached directly."

  /// About the way to the upstream.
  func advice(_ error: UpstreamError) -> String {
    switch error {
    case .connect(.unresolved): "Is the host in 'upstream' spelt right, and does this machine's resolver know it?"
    case .connect(.forbiddenAddress): "Such an address is never contacted. Which name was meant?"
    case .connect(.refused): "Nothing listens at that address and port, or a firewall refuses."
    case .connect(.timedOut), .timedOut:
      "Does a firewall drop what goes there? 'timeouts: {connect: …}' says how long is waited."
    case .proxyUnreachable, .proxy: Self.proxyAdvice
    case .connect(.handshake(let error)), .tls(let error):
      Self.tlsAdvice(
        error.cause, of: "upstream",
        name: "Is the host in 'upstream' the one that the certificate names? If it has to be another, write the "
          + "certificate's name as 'tls: {server_name: …}' of the route.",
        trust: Trust("'tls: {ca_file: …}' of the route", route.tls.caFile), address: "'upstream'")
    }
  }

  /// About a handshake.
  /// - Parameters:
  ///   - peer: what the other side is.
  ///   - name: what to do about a certificate for another name.
  ///   - trust: where certification authorities are named.
  ///   - address: where the peer's address is written.
  private static func tlsAdvice(
    _ cause: TLSFailure.Cause, of peer: String, name: String, trust: Trust, address: String
  ) -> String {
    switch cause {
    case .expired:
      "The \(peer)'s certificate has expired: its operator has to renew it. If it has not, this machine's clock is "
        + "wrong (date -u)."
    case .notYetValid: "The \(peer)'s certificate is not valid yet: is this machine's clock right (date -u)?"
    case .wrongName: name
    case .unknownAuthority where trust.file != nil:
      "The file \(trust.file ?? ""), which \(trust.key) names, lacks the authority that issued the \(peer)'s "
        + "certificate: add that authority's certificate to the file, not the \(peer)'s own. A device on the way may "
        + "show a certificate of its own; then it is that device's authority."
    case .unknownAuthority:
      "Name the authority that issued the \(peer)'s certificate in \(trust.key). A device on the way may show a "
        + "certificate of its own; then it is that device's authority."
    case .notTLS: "What answers there speaks no TLS: is the port in \(address) right, or is it http: instead of https:?"
    case .clientCertificate:
      "The \(peer) wants a client certificate, or another one: see 'certificate_file' and 'key_file' in "
        + "config/full.yaml."
    case .nothingInCommon: "The \(peer) offers no TLS 1.2 or 1.3 with forward secrecy: its operator has to update it."
    case .other:
      "Is there a TLS server at the address in \(address)? If so, name the authority that issued its certificate in "
        + "\(trust.key)\(peer == "upstream" ? ", or the certificate's name in 'server_name'" : "")."
    }
  }

  /// About a probe that got no answer.
  func advice(probe error: FetchError) -> String {
    let isPlain = route.upstream.value.scheme == .http
    return switch error {
    case .answeredWithTLS: "The upstream speaks TLS at this port: write https: in 'upstream'."
    case .closed where isPlain, .malformed where isPlain:
      "Does the upstream speak HTTP/1.1 at this port? If it speaks TLS there, write https: in 'upstream'."
    case .closed, .malformed:
      "The connection is there: does the upstream speak HTTP/1.1 at this port, and not HTTP/2 alone?"
    case .timedOut: "The connection is there: 'timeouts: {response_head: …}' says how long an answer is waited for."
    case .tls(_, _, let cause):
      Self.tlsAdvice(
        cause, of: "upstream", name: "Is the host in 'upstream' the one that the certificate names?",
        trust: Trust("'tls: {ca_file: …}' of the route", route.tls.caFile), address: "'upstream'")
    case .proxy: Self.proxyAdvice
    case .unresolved, .unreachable, .tooLarge: "Try again: what worked a moment ago did not work now."
    }
  }

  /// About a probe's answer; nil where it is as it should be.
  func advice(status: Int) -> String? {
    switch status {
    case 200..<400: nil
    case 400 where route.upstream.value.scheme == .http:
      "If the upstream speaks TLS at this port, write https: in 'upstream'; else, what does it expect of this request?"
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

extension OperatorCommands {
  /// The commands for these settings. `cache` is the one in use, which a reload does not change.
  init(_ settings: Settings, cache: CacheSettings, configuration: String) {
    var reachesCache = true
    if case .memory = cache { reachesCache = false }
    self.init(
      configuration: configuration, reachesCache: reachesCache,
      hasPages: settings.listeners.contains { $0.signIn != nil })
  }
}

extension CheckAdvice {
  /// Where certification authorities are named, and the file if there is one.
  private struct Trust {
    let key: String
    let file: String?

    init(_ key: String, _ file: Located<String>?) {
      (self.key, self.file) = (key, file?.value)
    }
  }

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
      "Nothing overwrites the file. Repair it, or move it away: the cache is then empty, and every person signs in "
        + "again."
    case .abandoned: "Nothing: the file is written again."
    case .file(.system(let error)) where error.isOutOfSpace, .lock(let error) where error.isOutOfSpace:
      "Free space on the file system of the cache file, or raise the quota of its owner."
    case .file(.system(let error)) where error.number == EROFS, .lock(let error) where error.number == EROFS:
      "The file system of the cache file is read-only for this process. Name a file in a directory that it may write: "
        + "below StateDirectory= or ReadWritePaths= of a unit, or in a volume of a container."
    case .file(.system(let error)), .lock(let error):
      "The proxy's user has to be able to read and write the cache file and its directory: \(error.reason)."
    case .file(.changedWhileRead):
      "Another program writes the file all the time. Find it, such as with fuser or lsof, and stop it."
    case .file(.tooLarge): "No cache has so many bytes: look at what is in the file, and move it away."
    case .file(.noDirectory): "Create the directory of the cache file, for the proxy's user alone, or mount it."
    case .file(.untrusted), .file(.obstructed):
      "Look at owner and mode of the file and its directory: they have to be this user's alone."
    case .contended: "Fewer processes may have to share this cache: look at how often each of them writes it."
    case .locked: "If the process that holds the lock is gone, remove the lock file."
    case .server(.credentials): "Check 'user' and 'password' of the cache against the server's access control list."
    case .server(.refused):
      "The server's user needs the commands that config/cache.md lists, on keys that begin with 'key_prefix'; a "
        + "replica takes no writes."
    case .server(.damaged): "Look at that key with HGETALL. Delete it, and the person it belongs to signs in again."
    case .server(.unreachable(let error)): cacheAdvice(error)
    case .server:
      "Is it a Redis server that listens there, with TLS where 'rediss:' says so, and has it room to answer?"
    }
  }
}

extension RouteSettings {
  /// The application whose token it adds.
  var application: String? { token.application }
}

extension WatchedCertificate {
  /// What to do about its dates.
  func nextStep(at now: UnixTime) -> String {
    if validity.state(at: now) == .notYetValid { return "set the clock, or use the former certificate" }
    return switch use {
    case .listener: "replace certificate and key; the proxy takes new files over without a restart"
    case .application: "replace it, and register the new one at the provider first"
    case .client: "replace certificate and key; the server that asks for it must know the new one first"
    case .authority: "add its successor to the file, then remove it"
    case .collector:
      "replace the certificate in the file and restart the proxy: the variable's file is read at the start"
    }
  }
}
