internal import Bytes
internal import Tokens

/// A requirement in words for the person who can meet it.
struct SignInText {
  var heading: String
  /// The required scopes: a permission, and its resource, if that is named.
  var scopes: [(permission: String, resource: String?)]
  /// The conditions of the sign-in, beyond an ordinary one.
  var conditions: [String]

  /// The words for a requirement. `configured`: the route's scopes; `isSignedIn`: its account is signed in.
  init(_ requirement: RouteSignInRequirement, configured: ScopeSet, isSignedIn: Bool) {
    scopes = requirement.scopes.words.map(Self.scope)
    let need = requirement.need
    let asked = need.claims.map { Self.claimNames($0) } ?? []
    var conditions: [String] = []
    let levels = need.authenticationContexts + (need.claims.map { Self.contexts($0) } ?? [])
    let isStepUp = !levels.isEmpty || asked.contains("acrs")
    if isStepUp {
      let names = levels.isEmpty ? "" : " (\(levels.joined(separator: ", ")))"
      conditions.append("a stronger sign-in, such as with a one-time code\(names)")
    }
    if let seconds = need.maxAge { conditions.append(Self.age(seconds)) }
    if asked.contains("nbf") {
      conditions.append("a new token: something about your access changed since the last one")
    }
    if !asked.subtracting(["acrs", "nbf"]).isEmpty { conditions.append("what a policy of your organisation asks for") }
    self.conditions = conditions
    let isMore = !Set(requirement.scopes.words.map { $0.lowercased() }).isSubset(
      of: configured.words.map { $0.lowercased() })
    heading =
      if !isSignedIn {
        "Sign in"
      } else if isStepUp || need.maxAge != nil || !asked.subtracting(["nbf"]).isEmpty {
        "Confirm that it is you"
      } else {
        isMore ? "More permissions are needed" : "Sign in again"
      }
  }

  /// `api://orders/Orders.Read` is the permission Orders.Read at api://orders.
  static func scope(_ word: String) -> (permission: String, resource: String?) {
    guard let slash = word.lastIndex(of: "/") else { return (word, nil) }
    let name = String(word[word.index(after: slash)...])
    let resource = String(word[..<slash])
    return (name == ".default" ? "Everything it is registered for" : name, resource)
  }

  private static func age(_ seconds: Int64) -> String {
    switch seconds {
    case ..<1: "that you sign in now, whenever you did before"
    case ..<120: "a sign-in of the last \(seconds) seconds"
    default: "a sign-in of the last \(seconds / 60) minutes"
    }
  }

  private static func claimNames(_ claims: Claims) -> Set<String> {
    Set(members(claims).keys).subtracting(["xms_cc"])
  }

  private static func contexts(_ claims: Claims) -> [String] {
    guard let asked = members(claims)["acrs"]?.members else { return [] }
    if let value = asked["value"]?.text { return [value] }
    guard case .array(let values) = asked["values"] else { return [] }
    return values.compactMap(\.text)
  }

  private static func members(_ claims: Claims) -> [String: JSONValue] {
    JSONValue(json: Array(claims.text.utf8))?.members?["access_token"]?.members ?? [:]
  }
}
