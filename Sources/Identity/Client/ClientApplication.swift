// Owns the words in which other programs ask for tokens: MSAL's, for both kinds of application. What happens then is the broker's,
// the sign-ins' and the cache's.

internal import Platform
public import Tokens

/// What public and confidential applications have in common (MSAL's `ClientApplicationBase`).
///
/// Values may be copied and shared; the copies are one application. Make one for each client id and keep it: it holds the tokens
/// that are warm, the request that is under way for several callers, and the memory of failures.
public protocol ClientApplication: Sendable {
  /// What stands behind it.
  var base: ClientApplicationBase { get }
}

extension ClientApplication {
  /// A person's token without asking them: from the cache, or with their refresh token (MSAL's `acquire_token_silent`).
  ///
  /// Callers who want the same token share one request. A token that ends soon is handed out and renewed behind.
  /// - Parameters:
  ///   - scopes: one API's, without the reserved ones (`openid` and the like).
  ///   - account: whose; nil is the only person who is signed in. Where several are, the program has to choose.
  ///   - forceRefresh: asks the provider whatever is cached.
  ///   - claims: what an API's challenge wants proved; asks the provider too.
  /// - Throws: an error that says `isInteractionRequired` where one of the other words would help.
  public func acquireTokenSilent(
    scopes: [String], account: CachedAccount?, forceRefresh: Bool = false, claims: Claims? = nil
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    let name = account?.homeAccountID
    return try await base.acquire(
      .account(name), base.accountScopes(scopes), renewal: forceRefresh ? .forced : .whenDue, claims: claims)
  }

  /// A token by a sign-in in a browser on this machine, whose answer is caught on loopback (MSAL's
  /// `acquire_token_interactive`). The provider must know the redirect URI `http://localhost` or `http://127.0.0.1`.
  ///
  /// Cancelling the task ends the wait.
  /// - Parameters:
  ///   - scopes: what the token is for; one API's.
  ///   - extraScopes: other APIs' scopes to consent to at once, so that silence suffices for their tokens.
  ///   - timeout: seconds for which the person may take.
  ///   - present: brings the person to an address, such as by opening a browser.
  public func acquireTokenInteractive(
    scopes: [String], extraScopes: [String] = [], prompt: Prompt? = nil, loginHint: String? = nil,
    claims: Claims? = nil, timeout: UInt64 = 300, present: @escaping @Sendable (String) async -> Void
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    var request = try base.signIn(scopes, extraScopes, claims)
    request.prompt = prompt
    request.loginHint = loginHint
    do throws(SignInError) {
      return try await InteractiveSignIn(
        request, store: base.cache, loop: base.loop, timeout: .seconds(timeout), now: base.surroundings.now
      ).acquireToken(present: present)
    } catch {
      throw .signIn(error)
    }
  }

  /// A token by a code that the person types in elsewhere (MSAL's `acquire_token_by_device_flow`).
  ///
  /// Cancelling the task ends the wait, which otherwise lasts as long as the code is good.
  /// - Parameter present: shows the person where to type in what.
  public func acquireTokenByDeviceCode(
    scopes: [String], extraScopes: [String] = [], claims: Claims? = nil,
    present: (DeviceAuthorizationReply) async -> Void
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    let request = try base.signIn(scopes, extraScopes, claims)
    do throws(SignInError) {
      return try await DeviceCodeSignIn(
        request, store: base.cache, now: base.surroundings.now, sleep: base.surroundings.sleep
      ).acquireToken(present: present)
    } catch {
      throw .signIn(error)
    }
  }

  /// Everybody who is signed in (MSAL's `get_accounts`).
  public func accounts() async -> [CachedAccount] {
    await base.people.accounts().map(\.account)
  }

  /// Signs somebody out: their tokens leave the cache, and silence has nothing for them any more (MSAL's `remove_account`).
  public func remove(account: CachedAccount) async throws(ClientApplicationError) {
    do throws(CacheStoreError) {
      try await base.people.remove(account: account)
    } catch {
      throw .cache(error)
    }
  }
}
