// Owns who is signed in to an application, and signing them out, in MSAL's words.

public import Tokens

/// The people signed in at one application's authority.
public struct SignedInAccounts: Sendable {
  private let application: Application
  private let store: CacheStore

  /// The people whose tokens are in `store`.
  public init(_ application: Application, store: CacheStore) {
    self.application = application
    self.store = store
  }

  /// Everybody signed in, and how their tokens stand (MSAL's `get_accounts`, and more).
  public func accounts() async -> [SignedInAccount] {
    await store.snapshot().signedInAccounts(at: application.authority, clientID: application.clientID)
  }

  /// Signs somebody out (MSAL's `remove_account`): their account, ID tokens and access tokens go, whichever application they are
  /// filed for, and the refresh tokens of this application and its family. Where issuers share a host, the others' stay.
  public func remove(account: CachedAccount) async throws(CacheStoreError) {
    let (home, authority, clientID) = (account.homeAccountID, application.authority, application.clientID)
    try await store.modify { $0.removeAccount(home: home, at: authority, clientID: clientID) }
  }
}
