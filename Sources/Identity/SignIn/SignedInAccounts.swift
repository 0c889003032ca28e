package import Bytes
package import Tokens

/// The people signed in at one application's authority.
package struct SignedInAccounts: Sendable {
  @Boxed private var application: Application
  private let store: CacheStore

  /// The people whose tokens are in `store`.
  package init(_ application: Application, store: CacheStore) {
    self.application = application
    self.store = store
  }

  /// The accounts that are signed in (MSAL's `get_accounts`), with the state of their tokens: all of a name. Without a
  /// name they are some if the cache is too large to hold (`CacheStore.isComplete`).
  package func accounts(called name: String? = nil) async -> [SignedInAccount] {
    await document(name.map { .called($0) } ?? .some)
      .signedInAccounts(at: application.authority, clientID: application.clientID, called: name)
  }

  /// Calls `take` with all of them, by name or, of a large cache, by the last change, until it returns false.
  package func pages(_ take: ([SignedInAccount]) async -> Bool) async throws(CacheStoreError) {
    // Of one whose entries change meanwhile. Hash values do for a million of them.
    var taken: Set<Int> = []
    try await store.pages(at: application.authority.environments) { page in
      await take(
        page.signedInAccounts(at: application.authority, clientID: application.clientID)
          .filter { taken.insert($0.account.homeAccountID.hashValue).inserted })
    }
  }

  private func document(_ people: CacheInterest.People) async -> CacheDocument {
    await store.snapshot(of: interest(people)).document
  }

  private func interest(_ people: CacheInterest.People) -> CacheInterest {
    CacheInterest(people, at: application.authority, clientID: application.clientID)
  }

  /// Revokes this application's refresh tokens for a person, or else access tokens, at the provider (RFC 7009).
  package func revoke(account: CachedAccount, now: @escaping @Sendable () -> UnixTime) async throws(AcquisitionError) {
    let tokens = await document(.called(account.homeAccountID)).heldTokens(
      of: account.homeAccountID, at: application.authority, clientID: application.clientID)
    if tokens.isEmpty { return }
    do throws(AcquisitionError) {
      let directory = ProviderDirectory(now: now, tenants: store.tenants)
      let metadata = try await directory.metadata(for: application)
      let requests = directory.requests(of: application, metadata, sleep: TokenBroker.sleep)
      for (token, hint) in tokens { try await requests.revoke(token, hint) }
    } catch {
      throw error.told(to: application)
    }
  }

  /// Signs a person out (MSAL's `remove_account`): their account, ID tokens and access tokens go, for every
  /// application, and the refresh tokens of this application and its family. If issuers share a host, the others' stay.
  package func remove(account: CachedAccount) async throws(CacheStoreError) {
    let (home, authority, clientID) = (account.homeAccountID, application.authority, application.clientID)
    try await store.modify(about: interest(.called(home))) { document in
      document.removeAccount(home: home, at: authority, clientID: clientID)
    }
  }
}
