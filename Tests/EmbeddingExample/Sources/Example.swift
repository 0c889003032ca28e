// Gets a token for orders as the signed-in person, and signs a person in if there is none.
// embedding-example CLIENT-ID AUTHORITY CA-FILE CACHE-FILE SCOPE [sign-out]

import Identity

@main
struct Example {
  static func main() async throws {
    let words = CommandLine.arguments
    let application = try PublicClientApplication(
      clientID: words[1], authority: words[2], caFile: words[3], cache: await .file(path: words[4]))
    if words.last == "sign-out" {
      for account in await application.accounts() { try await application.remove(account: account) }
    }
    let result = try await token(for: words[5], application)
    print("\(result.account?.name ?? "no account"): \(result.scopes), from the \(result.tokenSource)")
    // urlRequest.setValue("Bearer \(result.accessToken.revealed())", forHTTPHeaderField: "Authorization")
  }

  static func token(
    for scope: String, _ application: PublicClientApplication
  ) async throws -> AuthenticationResult {
    do {
      return try await application.acquireTokenSilent(scopes: [scope], account: nil)
    } catch {
      guard error.isInteractionRequired else { throw error }
      return try await application.acquireTokenByDeviceCode(scopes: [scope]) { codes in
        print("Go to \(codes.verificationURI) and type in \(codes.userCode)")
      }
    }
  }
}
