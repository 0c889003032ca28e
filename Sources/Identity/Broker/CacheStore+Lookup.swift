internal import Tokens

extension CacheStore {
  /// The cache's contents; `unknown` if no account is found in a store that cannot read its place.
  func lookup(
    for key: AcquisitionKey, of application: Application, realm: String?, now: UnixTime
  ) async -> CacheLookup {
    if let unfiled = CacheLookup.unfiled(key) { return unfiled }
    // First: an update read in between makes the answer better, not worse.
    let wasBlind = blindness != nil
    let (document, isKnown) = await snapshot(of: key.interest)
    let isBlind = wasBlind || !isKnown
    var cached = document.lookup(for: key, realm: realm, now: now, family: application.family)
    if !application.hasOfflineAccess, case .refreshTokens = cached.grant { cached.grant = .nothing(.noTokens) }
    if isBlind, case .nothing(let reason) = cached.grant, reason == .noAccount || reason == .noTokens {
      cached.grant = .unknown
    }
    return cached
  }
}

extension AcquisitionKey {
  /// The part of a cache that may have its token.
  var interest: CacheInterest {
    let people: CacheInterest.People =
      if case .account(let name) = subject { name.map { .called($0) } ?? .some } else { .none }
    return CacheInterest(people, at: authority, clientID: clientID)
  }
}
