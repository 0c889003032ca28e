// The credentials that a program gives its applications: each kind becomes what the proxy's configuration makes of it,
// and one that cannot be used is refused when the application is made.

import Bytes
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite struct ApplicationCredentialTests {
  private static let fixtures = testsDirectory + "/Fixtures/certificates/"
  private static let entra = "https://login.microsoftonline.com/contoso.example"

  @Test func `a secret, an assertion and a file are themselves`() throws {
    let authority = try Authority(Self.entra)
    #expect(try ApplicationCredential.secret(Secret("s")).source(at: authority) == .secret(Secret("s")))
    #expect(
      try ApplicationCredential.assertion(Secret("a"), type: .jwtSPIFFE).source(at: authority)
        == .assertion(Secret("a"), .jwtSPIFFE))
    #expect(try ApplicationCredential.assertionFile("/t").source(at: authority) == .assertionFile(path: "/t"))
  }

  @Test(arguments: [
    ("https://login.microsoftonline.com/contoso.example", "rsa", ClientAssertionAlgorithm.ps256),
    ("https://id.example", "rsa", .rs256), ("https://id.example", "ec", .es256), ("https://id.example", "p384", .es384),
  ])
  func `a certificate signs as its provider expects`(
    authority: String, name: String, algorithm: ClientAssertionAlgorithm
  ) throws {
    let credential = try ApplicationCredential.certificate(
      Self.fixtures + name + ".pem", keyFile: Self.fixtures + name + ".key", keyID: "k", sendsChain: true)
    guard case .certificate(_, let form) = try credential.source(at: try Authority(authority)) else {
      Issue.record("another kind")
      return
    }
    #expect(form == ClientAssertionForm(algorithm, keyID: "k", sendsChain: true))
    // The application is made of it, too.
    _ = try ConfidentialClientApplication(clientID: "c", credential: credential, authority: authority)
  }

  @Test func `files that cannot be used are told when they are named`() {
    #expect(throws: ClientApplicationError.certificate(.mismatch)) {
      _ = try ApplicationCredential.certificate(Self.fixtures + "rsa.pem", keyFile: Self.fixtures + "ec.key")
    }
    #expect(throws: ClientApplicationError.certificate(.legacyCipher)) {
      _ = try ApplicationCredential.archive(Self.fixtures + "ec-rc2.pfx", passphrase: Secret("orders-passphrase"))
    }
    #expect(throws: ClientApplicationError.self) { _ = try ApplicationCredential.certificate("/nowhere.pem") }
    // This is no job.
    #expect(throws: ClientApplicationError.environment(variable: "ACTIONS_ID_TOKEN_REQUEST_URL")) {
      _ = try ApplicationCredential.githubActions()
    }
  }

  @Test func `another's token is for the exchange of the authority's cloud, unless another audience is named`() throws {
    for (audience, expected) in [(nil, "api://AzureADTokenExchange"), ("mine", "mine")] as [(String?, String)] {
      for credential in [
        try ApplicationCredential.gcp(audience: audience),
        try .managedIdentity(.clientID("i"), audience: audience),
      ] {
        guard case .federated(_, let found) = try credential.source(at: try Authority(Self.entra)) else {
          Issue.record("another kind")
          return
        }
        #expect(found == expected)
      }
    }
    _ = try ManagedIdentityApplication(.clientID("i"))
  }
}
