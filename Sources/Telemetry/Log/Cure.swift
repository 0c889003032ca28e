// What to do when something has gone wrong: one table for `check`, `login`, the log, problem documents and
// deploy/troubleshooting.md.

internal import Bytes

/// The cure for a cause. The code that knows an error chooses its cure.
package enum Cure: String, CaseIterable, Sendable {
  case cacheDamaged, cacheAbandoned, cacheSpace, cacheReadOnly, cacheRights, cacheWriter, cacheSize, cacheDirectory,
    cacheOwner, cacheContended, cacheLocked, cacheKey, cacheClear, cacheMoved, cacheCredentials, cacheToken,
    cacheObjectID, cacheCommands, cacheEntry, cacheVersion, cachePrimary, cacheExposed, cacheServer, cacheHost,
    cacheListening, cacheNoTLS, cacheFirewall, cacheAuthority
  case providerHost, providerRefused, providerFirewall, providerHTTPS, providerAddress, providerMetadata,
    providerTrouble, providerCache, outboundProxy, clock
  case proofApplication, proofGCP, proofGitHubActions, proofFile, proofActor, proofSignature, proofProjected,
    proofAgent, proofProgram, proofIssuer, commandStart, commandTime, commandExpiry, commandOutput, arcKey, arcIdentity,
    arcAgent, identityUpdate, identityPause, identityService, identityAssignment
  case clientSecret, proofCertificate, handshakeCertificate, commandAssertion, federatedCredential, boundTokens, agent,
    agentConsent, grantType, scopes, permission, otherCode, callerToken, credentialOrDevice, proxyPassword,
    tokenEndpoint, otherStatus, pageRedirectURI, loopbackRedirectURI
  case apiProvider, apiMetadata, upstreamHost, upstreamRefused, upstreamFirewall, upstreamHTTPS, upstreamProtocol,
    upstreamPlainProtocol, upstreamTime, upstreamPassed, forbiddenAddress, withoutHTTP2, withoutWebSockets,
    probePlaintext, probeNoToken, probeField, probeAudience, probeScope, probePath, probePause, probeTrouble,
    probeStatus, health
  case tlsExpired, tlsNotYetValid, tlsProviderName, tlsUpstreamName, tlsServerName, tlsAuthority, tlsAuthorityInFile,
    tlsNotTLS, tlsClientCertificate, tlsNothingInCommon, tlsProvider, tlsUpstream
  case signInTrouble, signInReachability, signInCredential, signInAuthority, signInDeviceCode, signInBrowser,
    signInRegistration, signInDomainHint, signInPKCE, signInRedirectURI, signInNewCode, signInNewWindow, signInSilence,
    signInAccount, signInOtherUser, signInPort, signInAnotherCode, pageAgain, pageAccount
  case personSignIn, personFirst, personChoice, personName, personPolicy, personPages, personCache, cacheFile
  case answerChoice, answerPolicy, answerSignIn, answerLogin, answerCache, answerHost, answerProvider,
    answerApplication, answerLater, answerClaims, answerToken, answerRepeat
  case signInAgain, signInRoutes, restart, restartAfterFailure, openFiles, openFilesOrConnections, openFilesCount,
    hardLimit, busyOpenFiles, busyConnections, http2Abuse, redirectURIs, challengeField, redisUser, socketUnit,
    inheritedDescriptor, oneSignal, accessFile, accessSpace, accessOutput, confinement, adminRecord, tokenFile,
    telemetryVariable, cryptography, boundCertificate, earlyCertificate, listenerCertificate, applicationCertificate,
    clientCertificate, certificationAuthority, collectorCertificate

  /// A part that varies.
  package enum Part: String, CaseIterable, Sendable {
    case application, blueprint, configuration, authority, issuers, clientID, thumbprint, redirectURI,
      sharedRedirectURI, file, program, leftovers, peer, address, trust, trustFile, route, login, accounts, liveCheck,
      link, needed, possible
  }

  /// Sentences for the page. Words between backticks are typed or written as they are. A part that is not given is said
  /// in general.
  package func text(_ parts: [Part: String] = [:]) -> String { Self.filled(rawValue, parts) }

  /// The same for a terminal, an answer or the log, which have no backticks.
  package func words(_ parts: [Part: String] = [:]) -> String {
    String(decoding: text(parts).utf8.map { $0 == UInt8(ascii: "`") ? UInt8(ascii: "'") : $0 }, as: UTF8.self)
  }

  /// The rows of the table by their names.
  static let rows: [String: String] = {
    var rows: [String: String] = [:]
    var name = ""
    for line in table.utf8.split(separator: UInt8(ascii: "\n")).map(Substring.init) {
      let isNew = line.first != " "
      if isNew {
        name = String(line.prefix { $0 != ":" })
        assert(rows[name] == nil, "two rows for one cure")
      }
      rows[name, default: ""] += line.dropFirst(isNew ? name.count + 2 : 1)
    }
    return rows
  }()

  /// A row with its parts, and with the rows that it names in braces.
  private static func filled(_ name: String, _ parts: [Part: String]) -> String {
    let pieces = (rows[name] ?? "").utf8.split(separator: UInt8(ascii: "{"), omittingEmptySubsequences: false)
    return pieces.map(Substring.init).dropFirst().reduce(String(Substring(pieces[0]))) { text, piece in
      let name = String(piece.prefix { $0 != "}" })
      guard rows[name] != nil else { return "\(text){\(piece)" }
      let part = Part(rawValue: name).flatMap { parts[$0] }
      return "\(text)\(part ?? filled(name, parts))\(piece.dropFirst(name.count + 1))"
    }
  }
}

extension LogValue {
  /// The value of `next`.
  package static func next(_ cure: Cure, _ parts: [Cure.Part: String] = [:]) -> LogValue {
    .string(cure.words(parts))
  }
}

/// A row for each cure, for sentences that several share, and for each part as the page has it.
private let table = """
  cacheDamaged: Nothing overwrites the file. Repair it, or move it away: the cache is then empty, and every person signs
    in again.
  cacheAbandoned: Nothing: the file is written again.
  cacheSpace: Free space on the file system of the cache file, or raise the quota of its owner.
  cacheReadOnly: The file system of the cache file is read-only for this process. Name a file in a directory that it may
    write: below StateDirectory= or ReadWritePaths= of a unit, or in a volume of a container.
  cacheRights: The proxy's user has to be able to read and write the cache file and its directory: the message says
    which right is missing.
  cacheWriter: Another program writes the file all the time. Find it, such as with fuser or lsof, and stop it.
  cacheSize: No cache has so many bytes: look at what is in the file, and move it away.
  cacheDirectory: Create the directory of the cache file, for the proxy's user alone, or mount it.
  cacheOwner: Look at owner and mode of the file and its directory: they have to be this user's alone.
  cacheContended: Fewer processes may have to share this cache: look at how often each of them writes it.
  cacheLocked: If the process that holds the lock is gone, remove the lock file.
  cacheKey: Nothing overwrites it. Add that key to the file that `key_file` of the cache names, as the second line if it
    is a former one; config/cache.md says how to print the name of a key.
  cacheClear: Find the program that writes there without the key: a proxy without `key_file`, or an MSAL. A restart of
    the proxy takes over what is there now.
  cacheMoved: Restore it from a backup, at its former file name or key; or delete it, and the people whose tokens it had
    sign in again.
  cacheCredentials: Check `user` and `password` of the cache against the server's access control list.
  cacheToken: Look at that application: `bearer-proxy check --live` tries it if a route uses it. The provider must know
    https://redis.azure.com.
  cacheObjectID: Name the object id in `user` of the cache.
  cacheCommands: The server's user needs the commands that config/cache.md lists, on keys that begin with `key_prefix`;
    a replica takes no writes.
  cacheEntry: Look at that key with HGETALL. Delete it, and the person it belongs to signs in again.
  cacheVersion: Look at that key with TYPE and GET. Delete it: the proxy writes it again.
  cachePrimary: Compare `sentinel` with the name in `sentinel monitor NAME …` of the sentinels.
  cacheExposed: Use `rediss://`, or let sentinels and nodes announce the addresses at which they are reached on this
    machine.
  cacheServer: Is it a Redis server that listens there, with TLS if `rediss:` says so, and has it room to answer?
  cacheHost: Is the host in `redis` spelt right, and does this machine's resolver know it?
  cacheListening: Does the server run, and listen at that address and port?
  cacheNoTLS: Does the server speak TLS at that port? `redis:` is without.
  cacheFirewall: Does a firewall drop what goes there?
  cacheAuthority: Name the authority that issued the server's certificate in `tls: {ca_file: …}` of the cache; a server
    that asks for a client certificate needs `certificate_file` and `key_file` there.
  providerHost: Is the host in `authority` of {application} spelt right, and does this machine's resolver know it?
  providerRefused: Nothing listens at that address and port, or a firewall refuses: is `authority` of {application}
    right?
  providerFirewall: Is a firewall between this machine and the provider?
  providerHTTPS: The provider speaks TLS at that port: write https: in `authority` of {application}.
  providerAddress: Is `authority` of {application} the provider's address, and not some other service's?
  providerMetadata: Check `authority` of {application}: it is the issuer, which has /.well-known/openid-configuration
    below it.
  providerTrouble: The provider has trouble of its own. Try again later, and look at its status page.
  providerCache: See what is said about the cache above: no account can be found in it until it is repaired.
  outboundProxy: It is the proxy of HTTPS_PROXY or of the configuration. `proxy: none` avoids it, and NO_PROXY lists
    hosts that are reached directly.
  clock: Set this machine's clock (a container has its host's) and keep it right (timedatectl set-ntp true, or chrony):
    else tokens are used after their end, or not at all.
  proofApplication: Correct {blueprint} first: its tokens prove {application}. A route of its own shows more in `check
    --live`.
  proofGCP: Is this a machine, pod or job of Google Cloud with a service account, and does no network policy keep the
    proxy from its metadata server?
  proofGitHubActions: Has the job `permissions: {id-token: write}`, and does it still run? Its token ends with it.
  proofFile: Look at the file that `client_assertion_file` of {application} names: it has to hold a JWT that this user
    may read.
  proofActor: Look at the file that `actor` of the route names: it has to hold a JWT that this user may read.
  proofSignature: Try again. If it stays so, look at the key of {application}: OpenSSL makes no signature with it.
  proofProjected: The kubelet renews a projected token: look at the pod's events (kubectl describe pod) and at the
    kubelet of its node; a pod without the volume, or a node that lost its API server, keeps the old token. {rightClock}
  proofAgent: Does the agent that writes {file} still run (spiffe-helper, Vault agent, a timer), and can it write the
    file? {rightClock}
  rightClock: If it does, is this machine's clock right (date -u)?
  proofProgram: The program has to bring a new client assertion before the former one ends.
  proofIssuer: Is this machine's clock right (date -u)? If it is, that issuer hands out old tokens: look there.
  commandStart: Is {program} there and executable for the proxy's user, is its interpreter, and does neither the unit
    (NoExecPaths, SystemCallFilter) nor the container image keep it from running?
  commandTime: {commandTrial}. It waits for something: a prompt, a lock, a host. `timeout` of `assertion_command` gives
    it longer.
  commandExpiry: {commandTrial}, and look at `exp`; is this machine's clock right (date -u)?
  commandOutput: {commandTrial}. It has to print the JWT alone on its standard output, and to end with status 0.
  commandTrial: Run it by hand as the proxy's user, with its variables alone: env -i BEARER_PROXY_CLIENT_ID=… {program}
  arcKey: Only members of the group `himds` may read the agent's keys: add the proxy's user to it (usermod -aG himds
    USER).
  arcIdentity: Update the agent of Azure Arc, which ignores user-assigned identities, or leave the identity's id out.
  arcAgent: Is it the agent of Azure Arc that listens at IDENTITY_ENDPOINT?
  identityUpdate: The service is being updated, and is back within 70 s. The proxy asks again by itself.
  identityPause: The service wants to be left alone, and the proxy keeps to that. If it stays so, find what else on this
    machine asks it all the time.
  identityService: Is this a machine of Azure's with an identity, does a network policy keep the proxy from that
    address{leftovers}? `source` of `managed_identity` overrules what was found.
  identityAssignment: Assign the identity to this machine, or correct its id under `managed_identity`. What was assigned
    a moment ago is known some minutes later; the proxy asks again every minute.
  clientSecret: Check `client_id` and the client secret of {application}: the secret may be wrong, have expired, or be
    another application's; the portal's list shows a secret's id, which is not the secret.
  proofCertificate: {registration} at the provider, and check `client_id` and `authority`. If it is registered, does the
    provider want another `algorithm`, `key_id`, `audience` or `send_chain`?
  handshakeCertificate: {registration} at the provider, with tls_client_auth or self_signed_tls_client_auth, and check
    `client_id`. Does the token endpoint, or its alias in mtls_endpoint_aliases, ask for certificates?
  registration: Register the certificate with the thumbprint {thumbprint} for {application}
  commandAssertion: Compare the JWT that the command of {application} prints with what is registered at the provider:
    issuer, subject and audience (`check --live` shows them), the key that signs it, and its times.
  federatedCredential: Register a federated credential for {application} with exactly the issuer, subject and audience
    of the token that proves it: `check --live` shows them. What was registered a moment ago is known some minutes
    later; the proxy asks again every 10 seconds for 5 minutes, then every minute.
  boundTokens: Set `bound_tokens: true` under `mutual_tls` of {application}, so that upstreams are shown the
    certificate; or have the provider give tokens that are not bound.
  agent: Check `agent` and the tenant: it has to be an agent identity of the tenant whose blueprint is {blueprint}.
  agentConsent: No person signs in for an agent: look at the consent and the Conditional Access policies for
    {application}.
  grantType: The provider does not let {application} ask this way: allow it there, or check `client_id` and `authority`.
  scopes: Check `scopes` of the route: the provider does not know them, or {application} may not ask for them.
  permission: Grant {application} what it asks for, at the provider.
  otherCode: Look the code up in the provider's documentation; what it is about is {application}.
  callerToken: Nothing is to be done here: the caller is told what its token lacks.
  credentialOrDevice: Check `client_id` and the client credential of {application} first: some providers answer a wrong
    one like this. {otherText}
  proxyPassword: A proxy on the way wants a user name and a password: write them in `proxy` of {application}, or in
    HTTPS_PROXY, through a variable.
  tokenEndpoint: There is no token endpoint at the address in the provider's metadata: compare token_endpoint there with
    the provider's documentation, and check `authority` of {application}. {otherText}
  otherStatus: Does the provider's documentation know this status? {otherText}
  otherText: If the text is not the provider's, have the firewall or proxy on the way let POST requests to the token
    endpoint through.
  pageRedirectURI: Register the redirect URI {redirectURI} for client_id {clientID} at the provider, and check
    `client_id` of {application}.
  loopbackRedirectURI: {pageRedirectURI} If another one of this machine is registered, `login` takes it with --port or
    --redirect-uri.
  apiProvider: The API takes tokens of {issuers}, not of {authority}: correct the authority of {application}, or ask the
    API's operator.
  apiMetadata: Ask the API's operator about its metadata (RFC 9728). Tokens do not depend on them.
  upstreamHost: Is the host in `upstream` spelt right, and does this machine's resolver know it?
  upstreamRefused: Nothing listens at that address and port, or a firewall refuses.
  upstreamFirewall: Does a firewall drop what goes there? `timeouts: {connect: …}` says how long is waited.
  upstreamHTTPS: The upstream speaks TLS at this port: write https: in `upstream`.
  upstreamProtocol: The connection is there: does the upstream speak the route's `protocol` at this port?
  upstreamPlainProtocol: Does the upstream speak the route's `protocol` at this port? If it speaks TLS there, write
    https: in `upstream`.
  upstreamTime: The connection is there: `timeouts: {response_head: …}` says how long an answer is waited for.
  upstreamPassed: Try again: what worked a moment ago did not work now.
  forbiddenAddress: Such an address is never contacted. Which name was meant?
  withoutHTTP2: The upstream does not speak HTTP/2: set `protocol: auto` or `protocol: http1`.
  withoutWebSockets: Does the upstream take WebSockets with HTTP/1.1? Then `protocol: auto` uses that for them.
  probePlaintext: If the upstream speaks TLS at this port, write https: in `upstream`; else, what does it expect of this
    request?
  probeNoToken: The upstream wants to know who calls, and the route has no token.
  probeField: The upstream does not take the key or password. Is it the present one, and in the field and form that the
    API expects?
  probeAudience: The upstream does not take the token. Is it for this API? Compare the route's scopes with what the API
    expects.
  probeScope: The token is right and not enough: which permission or scope does the API want?
  probePath: Is there something to GET at this path? Set `probe` to a path that there is.
  probePause: The upstream wants to be left alone for a while.
  probeTrouble: The upstream has trouble of its own.
  probeStatus: What does the upstream's documentation say about this status?
  health: The server takes calls and says itself that it cannot serve them: its own log has the reason.
  tlsExpired: The {peer}'s certificate has expired: its operator has to renew it. If it has not, this machine's clock is
    wrong (date -u).
  tlsNotYetValid: The {peer}'s certificate is not valid yet: is this machine's clock right (date -u)?
  tlsProviderName: Is the host in `authority` of {application} the one that the certificate names?
  tlsUpstreamName: Is the host in `upstream` the one that the certificate names?
  tlsServerName: {tlsUpstreamName} If it has to be another, write the certificate's name as `tls: {server_name: …}` of
    the route.
  tlsAuthority: Name the authority that issued the {peer}'s certificate in {trust}. {device}
  tlsAuthorityInFile: The file {trustFile}, which {trust} names, lacks the authority that issued the {peer}'s
    certificate: add that authority's certificate to the file, not the {peer}'s own. {device}
  device: A device on the way may show a certificate of its own; then it is that device's authority.
  tlsNotTLS: What answers there speaks no TLS: is the port in {address} right, or is it http: instead of https:?
  tlsClientCertificate: The {peer} wants a client certificate, or another one: see `certificate_file` and `key_file` in
    config/full.yaml.
  tlsNothingInCommon: The {peer} offers no TLS 1.2 or 1.3 with forward secrecy: its operator has to update it.
  tlsProvider: {tlsServer}.
  tlsUpstream: {tlsServer}, or the certificate's name in `server_name`.
  tlsServer: Is there a TLS server at the address in {address}? If so, name the authority that issued its certificate in
    {trust}
  signInTrouble: The provider has trouble of its own: try again later.
  signInReachability: Does this machine reach {authority}? Then try again.
  signInCredential: Check client_id and credential of {application} in {configuration}.
  signInAuthority: Check the authority of {application} in {configuration}.
  signInDeviceCode: Try --device-code.
  signInBrowser: Sign in without --device-code, on a machine with a browser.
  signInRegistration: Create the account at the provider first, then sign in without --prompt create.
  signInDomainHint: Sign in without --domain-hint.
  signInPKCE: Have the provider support PKCE with S256 and say so, or remove require_pkce from {application} in
    {configuration}.
  signInRedirectURI: If the browser showed an error, look there: client_id of {application} in {configuration} needs the
    redirect URI {redirectURI} at the provider{sharedRedirectURI}. For a provider that compares ports choose one with
    --port, or the whole URI with --redirect-uri. On a machine without a browser: --device-code.
  signInNewCode: Run the command again for a new code.
  signInNewWindow: Run the command again, and finish the sign-in in the window that it opens.
  signInSilence: Nothing may be shown with --prompt none: sign in without it.
  signInAccount: Sign in with the account that was meant; --prompt select_account offers a choice.
  signInOtherUser: If you did not sign in as that person, another user of this machine may have tried.
  signInPort: Another program may use that port.
  signInAnotherCode: Run the command again; codes are good once, and for minutes.
  pageAgain: begin again: {link}
  pageAccount: sign in with the route's account: {link}
  personSignIn: Sign in with: {login}
  personFirst: Have the person do first what the provider asks for in the detail. Then:
  personChoice: Name one of those that `{accounts}` lists under the route's token, as `account`.
  personName: Write the user name of one of them under the route's token, as `account`.
  personPolicy: Use an account or a device that satisfies the policy: `account` of the route's token names the account.
  personPages: Tokens are kept in the memory of the running proxy: sign in there, in a browser that calls route {route}.
    For `bearer-proxy login`, set `cache: {file: PATH}` and restart the proxy first.
  personCache: Set `cache: {file: PATH}` in {configuration} and restart the proxy: tokens in memory end with each
    process. Then sign in with: {login}
  cacheFile: set `cache: {file: PATH}` and restart, then sign in with `bearer-proxy login`
  answerChoice: Name one under the route's `token`.
  answerPolicy: Use an account or a device that satisfies the policy.
  answerSignIn: Sign in, and come back here.
  answerLogin: The operator signs in with `{login}`; no restart is needed.
  answerCache: The operator has to {cacheFile}.
  answerHost: Call it by its address, or add the name under `hosts`.
  answerProvider: Try again later; the log says what it answered.
  answerApplication: Its configuration or credential must be mended; the log has the provider's codes.
  answerLater: Try again later; the log says why.
  answerClaims: Request a token for this proxy with the claims of the challenge, and send the request again with it.
  answerToken: Request another one for this proxy.
  answerRepeat: Repeat the request.
  signInAgain: sign in again: {liveCheck} names the routes
  signInRoutes: {liveCheck} names the routes that need a sign-in
  restart: restart the proxy
  restartAfterFailure: restart the proxy; if it comes back, look at the memory and the kernel's log
  openFiles: raise the limit of open files (LimitNOFILE, ulimit -n, fs.file-max), then restart
  openFilesOrConnections: raise the limit of open files (LimitNOFILE, ulimit -n), or lower limits.connections
  openFilesCount: compare process_open_fds with process_max_fds among the metrics, and raise LimitNOFILE
  hardLimit: raise the hard limit of open files to {needed} (LimitNOFILE, ulimit -Hn) and restart, or lower
    limits.connections to {possible}; until then further callers wait to be accepted
  busyOpenFiles: raise the limit of open files (LimitNOFILE, ulimit -n), or find in the access log who keeps connections
    busy
  busyConnections: raise limits.connections, or find in the access log who keeps connections busy
  http2Abuse: find out who calls from there; if its requests are right, set http2: false on the listener
  redirectURIs: compare the redirect URIs of both applications' registrations
  challengeField: compare the API's WWW-Authenticate field with RFC 9110, section 11.6.1
  redisUser: compare the access policy of the server with the object id of the application
  socketUnit: add it to listeners, or remove it from the socket unit
  inheritedDescriptor: remove it from the unit that starts the proxy
  oneSignal: send one signal only, and wait for shutdown.limit
  accessFile: let the proxy's user write to log.access_file, then send SIGUSR1
  accessSpace: free space on the file system of log.access_file
  accessOutput: look at what the access log is written to: bearer_proxy_log_lines_dropped_total counts what is lost
  confinement: allow the system calls landlock_* and prctl, or accept that the process is not confined
  adminRecord: let the proxy write there, or leave it: `status` then needs the configuration of the start
  tokenFile: let the proxy make files in that directory, and give it the group if token_file names one
  telemetryVariable: correct the variable, or remove it
  cryptography: restart the proxy; look at OPENSSL_CONF
  boundCertificate: register the certificate at the provider; it is tried again in a minute
  earlyCertificate: set the clock, or use the former certificate
  listenerCertificate: replace certificate and key; the proxy takes new files over without a restart
  applicationCertificate: replace it, and register the new one at the provider first
  clientCertificate: replace certificate and key; the server that asks for it must know the new one first
  certificationAuthority: add its successor to the file, then remove it
  collectorCertificate: replace the certificate in the file and restart the proxy: the variable's file is read at the
    start
  application: the application
  blueprint: the application
  configuration: the configuration
  authority: the authority
  issuers: other providers
  clientID: ID
  thumbprint: THUMBPRINT
  redirectURI: that the message names
  sharedRedirectURI: , or `redirect_uri: shared` if it knows http://localhost
  file: the file
  program: PROGRAM
  leftovers:
  peer: server
  address: the configuration
  trust: `tls: {ca_file: …}`
  trustFile: CA_FILE
  route: NAME
  login: bearer-proxy login -c FILE --route NAME
  accounts: bearer-proxy accounts -c FILE
  liveCheck: bearer-proxy check --live
  link: LINK
  needed: the number in `needed`
  possible: the number in `connections`
  """
