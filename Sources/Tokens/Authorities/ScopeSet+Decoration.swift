// Owns the scopes that describe a sign-in instead of an API: added to every person's request, never configured.

extension ScopeSet {
  /// Scopes that every sign-in requests by itself (OpenID Connect Core 1.0 §5.4 and §11). Configurations and programs
  /// may not name them (MSAL's rule): as a route's scopes they would bring a token for another API, or none.
  package static let reserved = ["offline_access", "openid", "profile"]

  /// These scopes and the reserved ones: what is sent for a person.
  package var decorated: ScopeSet {
    do throws(ScopeSetError) {
      return union(try ScopeSet(Self.reserved))
    } catch {
      preconditionFailure("the reserved scopes are scopes")
    }
  }

  /// The reserved scopes among these.
  var reserved: ScopeSet {
    filtered { Self.reserved.contains($0.lowercased()) }
  }

  /// The first reserved scope among these, letter case aside.
  package var firstReserved: String? {
    words.first { Self.reserved.contains($0.lowercased()) }
  }
}
