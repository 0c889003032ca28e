// The words of the configuration file. The rows beside this file list the keys of each section.

/// A key of the configuration file: its name here in lower case, with '_' before each new word.
enum Key: CaseIterable {
  case access, accessFile, account, actor, address, admin, agent, algorithm, allowDisk, allowPlaintext,
    allowReadableSecrets, anyone, application, applications, `as`, assertion, assertionCommand, audience, audiences,
    authority, azureRegion
  case basic, bearer, bodyBytes, boundTokens
  case cache, caFile, callerRate, callers, callerTokens, certificate, certificateFile, choice, claims,
    clientAssertionFile, clientAuthentication, clientCapabilities, clientID, clientSecret, clientSecretFile, cluster,
    command, connect, connections, credential
  case defaults, delay, displayName, domainHint
  case encodedPath, entra, environment, exchange, existing
  case familyTokens, federated, field, fieldCount, file, format
  case gcp, gid, gids, githubActions, grace, grant
  case handOut, headBytes, header, host, hosts, http2
  case identities, idle, idleTimeout
  case keyFile, keyID, keyPrefix
  case leastLife, level, limit, limits, listeners, log, logout, loops
  case managedIdentity, maxIdle, memory, methods, mutualTLS
  case name
  case objectID, offlineAccess, onInteractionRequired, origins
  case parameters, passphrase, passphraseFile, password, passwordFile, path, pfxFile, pool, preserveHost, probe,
    programs, `protocol`, proxy, publicURL
  case readyWhen, redirectURI, redis, remove, replayLimit, requestedTokenType, requestHead, requestHeaders, requirePKCE,
    resource, resourceApplication, resourceID, resources, responseHead, route, routes
  case scopes, scopesOnChallenge, secret, secretFile, sendChain, sentinel, sentinelPassword, sentinelPasswordFile,
    sentinelUser, serverName, set, shape, shutdown, signIn, source, streams, subjects, subjectTokenType
  case targetBytes, tenant, timeout, timeouts, tls, token, tokenFile, tokenProxy, tokens, type
  case uids, unfinished, unix, upgrade, upstream, user, username
  case value, valueFile, values
  case whenUnavailable, workloadIdentity

  private static let words = Dictionary(uniqueKeysWithValues: allCases.map { ($0, word(of: "\($0)")) })
  private static let keys = Dictionary(uniqueKeysWithValues: words.map { ($0.value, $0.key) })

  /// nil for a word that is no key.
  init?(rawValue: String) {
    guard let key = Self.keys[rawValue] else { return nil }
    self = key
  }

  /// The word in the file.
  var rawValue: String { Self.words[self] ?? "" }

  private static func word(of name: String) -> String {
    var word = ""
    for letter in name {
      // In `clientID` a capital letter follows one of the same word.
      if letter.isUppercase, word.last.map({ $0.isLowercase || $0.isNumber }) == true { word += "_" }
      word.append(letter)
    }
    return word.lowercased()
  }
}
