// The words of the configuration file and the table of which word may stand where. The decoder, the published schema
// and the commented example are all checked against this one table.

/// A key of the configuration file.
enum Key: String, CaseIterable {
  case access
  case accessFile = "access_file"
  case account
  case actor
  case address
  case admin
  case agent
  case algorithm
  case allowPlaintext = "allow_plaintext"
  case allowReadableSecrets = "allow_readable_secrets"
  case anyone
  case assertion
  case assertionCommand = "assertion_command"
  case audience
  case audiences
  case application
  case applications
  case `as`
  case authority
  case azureRegion = "azure_region"
  case bearer
  case bodyBytes = "body_bytes"
  case boundTokens = "bound_tokens"
  case callerRate = "caller_rate"
  case callerTokens = "caller_tokens"
  case caFile = "ca_file"
  case cache
  case callers
  case certificate
  case certificateFile = "certificate_file"
  case choice
  case claims
  case clientAssertionFile = "client_assertion_file"
  case clientAuthentication = "client_authentication"
  case clientCapabilities = "client_capabilities"
  case clientID = "client_id"
  case clientSecret = "client_secret"
  case clientSecretFile = "client_secret_file"
  case command
  case connect
  case connections
  case credential
  case defaults
  case delay
  case displayName = "display_name"
  case domainHint = "domain_hint"
  case environment
  case encodedPath = "encoded_path"
  case exchange
  case existing
  case familyTokens = "family_tokens"
  case federated
  case identities
  case redirectURI = "redirect_uri"
  case field
  case fieldCount = "field_count"
  case file
  case format
  case gcp
  case gids
  case githubActions = "github_actions"
  case grace
  case grant
  case headBytes = "head_bytes"
  case handOut = "hand_out"
  case header
  case host
  case hosts
  case idle
  case idleTimeout = "idle_timeout"
  case keyFile = "key_file"
  case keyID = "key_id"
  case keyPrefix = "key_prefix"
  case level
  case limit
  case limits
  case listeners
  case log
  case logout
  case loops
  case managedIdentity = "managed_identity"
  case maxIdle = "max_idle"
  case memory
  case methods
  case mutualTLS = "mutual_tls"
  case name
  case objectID = "object_id"
  case offlineAccess = "offline_access"
  case onInteractionRequired = "on_interaction_required"
  case origins
  case parameters
  case passphrase
  case passphraseFile = "passphrase_file"
  case password
  case passwordFile = "password_file"
  case path
  case pfxFile = "pfx_file"
  case pool
  case preserveHost = "preserve_host"
  case probe
  case proxy
  case publicURL = "public_url"
  case readyWhen = "ready_when"
  case redis
  case replayLimit = "replay_limit"
  case requestHead = "request_head"
  case requestedTokenType = "requested_token_type"
  case resource
  case resourceApplication = "resource_application"
  case resourceID = "resource_id"
  case responseHead = "response_head"
  case routes
  case scopes
  case scopesOnChallenge = "scopes_on_challenge"
  case secret
  case sendChain = "send_chain"
  case serverName = "server_name"
  case shutdown
  case source
  case signIn = "sign_in"
  case subjectTokenType = "subject_token_type"
  case subjects
  case targetBytes = "target_bytes"
  case tenant
  case timeout
  case timeouts
  case tls
  case token
  case tokenProxy = "token_proxy"
  case type
  case uids
  case unfinished
  case unix
  case upgrade
  case upstream
  case whenUnavailable = "when_unavailable"
  case user
  case value
  case valueFile = "value_file"
  case values
  case workloadIdentity = "workload_identity"
}

/// What may stand under a key. `Sendable` is written out, here and below: derived, each waits for the other.
enum KeyShape: Sendable {
  /// A scalar, a list of scalars, or names that the operator chooses, each with a scalar.
  case value
  /// Keys of their own.
  case section(SectionShape)
  /// A list, each element with keys of its own.
  case sections(SectionShape)
  /// Names that the operator chooses, each with keys of its own.
  case namedSections(SectionShape)
}

/// The keys that may stand in one mapping.
struct SectionShape: Sendable {
  let keys: [(key: Key, shape: KeyShape)]

  init(_ keys: [(Key, KeyShape)]) {
    self.keys = keys.map { (key: $0.0, shape: $0.1) }
  }

  func shape(of key: Key) -> KeyShape? {
    keys.first { $0.key == key }?.shape
  }

  /// Every path of keys from here, such as `listeners[].tls.key_file` and `applications.*.client_id`.
  func paths(under prefix: String = "") -> [String] {
    keys.flatMap { key, shape -> [String] in
      let path = prefix + key.rawValue
      switch shape {
      case .value: return [path]
      case .section(let inner): return [path] + inner.paths(under: path + ".")
      case .sections(let inner): return [path] + inner.paths(under: path + "[].")
      case .namedSections(let inner): return [path] + inner.paths(under: path + ".*.")
      }
    }
  }
}

extension SectionShape {
  /// The whole file.
  static let file = SectionShape([
    (.listeners, .sections(listener)), (.loops, .value), (.admin, .section(admin)), (.log, .section(log)),
    (.cache, .section(cache)), (.limits, .section(limits)),
    (.shutdown, .section(SectionShape([(.delay, .value), (.grace, .value), (.limit, .value)]))),
    (.applications, .namedSections(application)),
    (.defaults, .section(defaults)), (.routes, .sections(route)), (.allowReadableSecrets, .value),
    (.readyWhen, .value),
  ])

  static let listener = SectionShape([
    (.address, .value), (.hosts, .value), (.callers, .section(callers)),
    (.tls, .section(SectionShape([(.certificateFile, .value), (.keyFile, .value)]))),
    (.signIn, .section(SectionShape([(.publicURL, .value), (.limit, .value), (.logout, .value)]))), (.handOut, .value),
  ])

  static let callers = SectionShape(
    adminCallers.keys.map { ($0.key, $0.shape) } + [
      (.origins, .value), (.certificate, .section(SectionShape([(.caFile, .value), (.subjects, .value)]))),
    ])

  static let adminCallers = SectionShape([
    (.anyone, .value), (.unix, .section(SectionShape([(.uids, .value), (.gids, .value)]))),
    (.header, .section(SectionShape([(.name, .value), (.value, .value), (.valueFile, .value)]))),
    (.bearer, .section(SectionShape([(.authority, .value), (.audiences, .value), (.caFile, .value)]))),
  ])

  static let admin = SectionShape([(.address, .value), (.callers, .section(adminCallers))])

  static let log = SectionShape([
    (.level, .value), (.format, .value), (.access, .value), (.accessFile, .value),
    (.identities, .value),
  ])

  static let cache = SectionShape([
    (.file, .value), (.memory, .value), (.redis, .value), (.user, .value), (.password, .value), (.passwordFile, .value),
    (.keyPrefix, .value), (.allowPlaintext, .value),
    (.tls, .section(SectionShape([(.caFile, .value), (.certificateFile, .value), (.keyFile, .value)]))),
  ])

  static let limits = SectionShape([
    (.headBytes, .value), (.targetBytes, .value), (.fieldCount, .value), (.connections, .value), (.bodyBytes, .value),
    (.callerRate, .value), (.callerTokens, .value), (.unfinished, .value),
  ])

  static let application = SectionShape([
    (.authority, .value), (.clientID, .value), (.clientSecret, .value), (.clientSecretFile, .value),
    (.clientAssertionFile, .value), (.clientAuthentication, .value), (.credential, .section(credential)),
    (.tls, .section(SectionShape([(.caFile, .value)]))), (.clientCapabilities, .value),
    (.familyTokens, .value), (.proxy, .value), (.redirectURI, .value), (.displayName, .value),
    (.azureRegion, .value), (.domainHint, .value), (.offlineAccess, .value),
  ])

  /// One of these. `client_secret`, `client_secret_file` and `client_assertion_file` are short for the first two.
  static let credential = SectionShape([
    (.secret, .section(SectionShape([(.value, .value), (.valueFile, .value)]))),
    (.assertion, .section(SectionShape([(.file, .value), (.type, .value)]))),
    (
      .assertionCommand,
      .section(SectionShape([(.command, .value), (.environment, .value), (.timeout, .value), (.type, .value)]))
    ),
    (
      .certificate,
      .section(
        SectionShape([
          (.certificateFile, .value), (.keyFile, .value), (.pfxFile, .value), (.passphrase, .value),
          (.passphraseFile, .value), (.algorithm, .value), (.keyID, .value), (.sendChain, .value), (.audience, .value),
          (.claims, .value),
        ]))
    ),
    (
      .mutualTLS,
      .section(
        SectionShape([
          (.certificateFile, .value), (.keyFile, .value), (.pfxFile, .value), (.passphrase, .value),
          (.passphraseFile, .value), (.boundTokens, .value),
        ]))
    ),
    (.managedIdentity, .section(managedIdentity)),
    (.federated, .section(federated)), (.workloadIdentity, .section(SectionShape([(.tokenProxy, .value)]))),
  ])

  /// One of the first four, and the audience.
  static let federated = SectionShape([
    (.managedIdentity, .section(managedIdentity)), (.gcp, .section(SectionShape([]))),
    (.githubActions, .section(SectionShape([]))), (.application, .value), (.audience, .value),
  ])

  static let managedIdentity = SectionShape([
    (.clientID, .value), (.objectID, .value), (.resourceID, .value), (.source, .value),
  ])

  static let defaults = SectionShape([
    (.tls, .section(SectionShape([(.caFile, .value), (.certificateFile, .value), (.keyFile, .value)]))),
    (
      .timeouts,
      .section(
        SectionShape([
          (.connect, .value), (.requestHead, .value), (.responseHead, .value), (.idle, .value), (.exchange, .value),
        ]))
    ),
    (.pool, .section(pool)),
  ])

  static let route = SectionShape([
    (.name, .value), (.displayName, .value), (.host, .value), (.path, .value), (.methods, .value), (.upstream, .value),
    (.application, .value), (.token, .section(token)), (.handOut, .value),
    (.preserveHost, .value), (.allowPlaintext, .value), (.upgrade, .value), (.encodedPath, .value), (.proxy, .value),
    (.probe, .value),
    (
      .tls,
      .section(
        SectionShape([(.caFile, .value), (.certificateFile, .value), (.keyFile, .value), (.serverName, .value)]))
    ),
    (
      .timeouts,
      .section(SectionShape([(.connect, .value), (.responseHead, .value), (.idle, .value), (.exchange, .value)]))
    ),
    (.pool, .section(pool)),
  ])

  static let token = SectionShape([
    (.as, .value), (.account, .value), (.agent, .value), (.tenant, .value), (.scopes, .value),
    (.scopesOnChallenge, .value), (.replayLimit, .value),
    (.existing, .value), (.whenUnavailable, .value), (.onInteractionRequired, .value), (.audience, .value),
    (.resource, .value), (.parameters, .value), (.grant, .value),
    (.subjectTokenType, .value), (.requestedTokenType, .value),
    (.actor, .section(SectionShape([(.file, .value), (.type, .value)]))), (.resourceApplication, .value),
    (.choice, .section(SectionShape([(.field, .value), (.values, .namedSections(tokenVariant))]))),
  ])

  /// What one value of a field stands for.
  static let tokenVariant = SectionShape([
    (.account, .value), (.agent, .value), (.tenant, .value), (.scopes, .value),
  ])

  static let pool = SectionShape([(.maxIdle, .value), (.idleTimeout, .value)])
}
