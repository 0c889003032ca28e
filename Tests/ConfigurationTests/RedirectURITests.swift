// The redirect URI of an application's sign-ins.

import Testing
import Tokens

@testable import Configuration

@Suite("Redirect URIs") struct RedirectURITests {
  private static let entra = "https://login.microsoftonline.com"

  /// The authorities of the applications a and b, with further keys, and those that have a redirect URI of their own.
  static let rows: [(authorities: [String], own: String)] = [
    (["https://id.example"], ""),
    // Two of one issuer, two issuers, two realms of one host.
    (["https://id.example", "https://id.example"], ""), (["https://id.example", "https://other.example"], "ab"),
    (["https://id.example/realms/x", "https://id.example/realms/y"], "ab"),
    // Two tenants of Entra, Entra and another, another that asks for itself alone.
    (["\(entra)/contoso.com", "\(entra)/common"], ""), (["\(entra)/contoso.com", "https://id.example"], "ab"),
    (["\(entra)/contoso.com", "https://id.example, client_secret: s3cret"], "b"),
    // One that has no route, one that keeps its registration, one that has its own without need.
    (["https://id.example", "https://other.example, display_name: No route"], "ab"),
    (["https://id.example, redirect_uri: shared", "https://other.example"], "b"),
    (["https://id.example, redirect_uri: own"], "a"),
  ]

  @Test(arguments: rows) func `an application has its own redirect URI if people sign in to several issuers`(
    authorities: [String], own: String
  ) throws {
    let names = ["a", "b"].prefix(authorities.count)
    var text = "listeners: [{address: 127.0.0.1:1}]\napplications:\n"
    for (name, authority) in zip(names, authorities) {
      text += "  \(name): {client_id: \(name), authority: \(authority)}\n"
    }
    text += "routes:\n  - {name: open, path: /, upstream: 'https://api.example', token: none}\n"
    for (name, authority) in zip(names, authorities) where !authority.contains("No route") {
      text += "  - {name: \(name), path: /\(name)/, upstream: 'https://api.example', application: \(name), "
      text += "token: {\(authority.contains("s3cret") ? "as: application, " : "")scopes: [s]}}\n"
    }
    #expect(
      try decoded(text).applications.map(\.callback) == names.map { own.contains($0) ? .own(application: $0) : .shared }
    )
  }

  @Test func `one path is below the other, and names are in them unchanged`() {
    #expect(CallbackPath.shared.path == "/.bearer/callback")
    #expect(CallbackPath.own(application: "a-b_c.d").path == "/.bearer/callback/a-b_c.d")
  }

  @Test(arguments: [".", ".."]) func `a name that would be a dot segment is none`(name: String) {
    let text =
      "listeners: [{address: 127.0.0.1:1}]\napplications: {'\(name)': {authority: 'https://i', client_id: c}}\n"
    #expect(throws: ConfigurationError.self) { try decoded(text) }
  }
}
