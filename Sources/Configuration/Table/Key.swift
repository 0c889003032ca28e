// The words of the configuration file. The rows beside this file list the keys of each section.

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
  case allowDisk = "allow_disk"
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
  case basic
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
  case cluster
  case command
  case connect
  case connections
  case credential
  case defaults
  case delay
  case displayName = "display_name"
  case domainHint = "domain_hint"
  case entra
  case environment
  case encodedPath = "encoded_path"
  case exchange
  case existing
  case familyTokens = "family_tokens"
  case federated
  case identities
  case redirectURI = "redirect_uri"
  case requirePKCE = "require_pkce"
  case field
  case fieldCount = "field_count"
  case file
  case format
  case gcp
  case gid
  case gids
  case githubActions = "github_actions"
  case grace
  case grant
  case headBytes = "head_bytes"
  case handOut = "hand_out"
  case header
  case host
  case hosts
  case http2
  case idle
  case idleTimeout = "idle_timeout"
  case keyFile = "key_file"
  case keyID = "key_id"
  case keyPrefix = "key_prefix"
  case leastLife = "least_life"
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
  case programs
  case `protocol`
  case proxy
  case publicURL = "public_url"
  case readyWhen = "ready_when"
  case redis
  case remove
  case replayLimit = "replay_limit"
  case requestHead = "request_head"
  case requestHeaders = "request_headers"
  case requestedTokenType = "requested_token_type"
  case resource
  case resourceApplication = "resource_application"
  case resourceID = "resource_id"
  case resources
  case responseHead = "response_head"
  case route
  case routes
  case scopes
  case scopesOnChallenge = "scopes_on_challenge"
  case secret
  case secretFile = "secret_file"
  case sendChain = "send_chain"
  case sentinel
  case sentinelPassword = "sentinel_password"
  case sentinelPasswordFile = "sentinel_password_file"
  case sentinelUser = "sentinel_user"
  case serverName = "server_name"
  case set
  case shape
  case shutdown
  case source
  case signIn = "sign_in"
  case streams
  case subjectTokenType = "subject_token_type"
  case subjects
  case targetBytes = "target_bytes"
  case tenant
  case timeout
  case timeouts
  case tls
  case token
  case tokenFile = "token_file"
  case tokens
  case tokenProxy = "token_proxy"
  case type
  case uids
  case unfinished
  case unix
  case upgrade
  case upstream
  case whenUnavailable = "when_unavailable"
  case user
  case username
  case value
  case valueFile = "value_file"
  case values
  case workloadIdentity = "workload_identity"
}
