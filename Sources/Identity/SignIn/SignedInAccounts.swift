// Who is signed in to an application, and signing them out, in MSAL's words.

package import Bytes
internal import Platform
package import Tokens

/// The people signed in at one application's authority.
package struct SignedInAccounts: Sendable {
  private let application: Application
  private let store: CacheStore

  /// The people whose tokens are in `store`.
  package init(_ application: Application, store: CacheStore) {
    self.application = application
    self.store = store
  }

  /// The accounts that are signed in, and how their tokens stand (MSAL's `get_accounts`, and more).
  package func accounts() async -> [SignedInAccount] {
    await store.snapshot().signedInAccounts(at: application.authority, clientID: application.clientID)
  }

  /// Has the provider end what this application holds for a person (RFC 7009): the refresh tokens, and with them what
  /// came of them; or the access tokens, where there are no others.
  package func revoke(
    account: CachedAccount, now: @escaping @Sendable () -> UnixTime
  ) async throws(AcquisitionError) {
    let tokens = await store.snapshot().heldTokens(
      of: account.homeAccountID, at: application.authority, clientID: application.clientID)
    if tokens.isEmpty { return }
    do throws(AcquisitionFailure) {
      let directory = ProviderDirectory(now: now, tenants: store.tenants)
      let metadata = try await directory.metadata(for: application)
      let requests = ProviderRequests(
        application: application, metadata: metadata,
        surroundings: directory.surroundings(now: now, sleep: TokenBroker.sleep))
      for (token, hint) in tokens { try await requests.revoke(token, hint) }
    } catch {
      throw error.error(
        for: TokenSubscription(application: application, scopes: .none).key, retryAfter: error.retryAfter ?? 1)
    }
  }

  /// Signs a person out (MSAL's `remove_account`): their account, ID tokens and access tokens go, whichever application
  /// they are filed for, and the refresh tokens of this application and its family. Where issuers share a host, the
  /// others' stay.
  package func remove(account: CachedAccount) async throws(CacheStoreError) {
    let (home, authority, clientID) = (account.homeAccountID, application.authority, application.clientID)
    try await store.modify { $0.removeAccount(home: home, at: authority, clientID: clientID) }
  }
}
