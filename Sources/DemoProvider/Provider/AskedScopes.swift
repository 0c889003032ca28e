internal import Bytes
internal import Tokens

/// The scopes of one API in a request.
struct AskedScopes {
  var api: API
  /// The API as it was named, for the answer's `scope`.
  var prefix: String
  /// The scopes as they are registered, in the order asked for.
  var names: [String] = []
  /// True if `.default` was among them: everything that was consented to, or can be.
  var isDefault = false

  var isOpenID: Bool { api.client == API.openID.client }

  /// The scopes that are missing beside those that a person consented to.
  func missing(beside held: [String]) -> [String] {
    let wanted = isDefault && held.isEmpty ? api.scopes.map(\.name) : names
    return wanted.filter { !held.contains($0) }
  }
}

extension DemoDirectory {
  /// The scopes of each API among words of `scope`, OpenID Connect's first.
  func scopes(_ words: [String]) throws(Refusal) -> [AskedScopes] {
    var all: [AskedScopes] = []
    for word in words {
      var (api, prefix, name) = (API.openID, "", word)
      if let slash = word.lastIndex(of: "/") {
        (prefix, name) = (String(word[..<slash]), String(word[word.index(after: slash)...]))
        api = try self.api(prefix)
      }
      let index = all.firstIndex { $0.api.client == api.client } ?? all.endIndex
      if index == all.endIndex { all.append(AskedScopes(api: api, prefix: prefix)) }
      if name == ".default", !all[index].isOpenID {
        all[index].isDefault = true
        continue
      }
      guard let scope = api.scopes.first(where: { $0.name.lowercased() == name.lowercased() }) else {
        throw .scope(70011, word)
      }
      if !all[index].names.contains(scope.name) { all[index].names.append(scope.name) }
    }
    return all.filter(\.isOpenID) + all.filter { !$0.isOpenID }
  }
}

/// The claims that the access token has to have.
struct ClaimsAsked {
  /// `xms_cc`: the application's abilities, such as to answer a challenge; `acrs`: the authentication contexts.
  let capabilities, contexts: [String]
  /// `nbf`: the first second in which the token may have been issued.
  var notBefore: UnixTime?

  /// Reads the parameter `claims`.
  init(_ text: String?) throws(Refusal) {
    guard let members = JSONValue(json: Array((text ?? "{}").utf8))?.members else {
      throw .unsupportedParameter("claims")
    }
    func asked(_ name: String) -> [String: JSONValue] { members["access_token"]?.members?[name]?.members ?? [:] }
    func values(_ name: String) -> [String] {
      asked(name)["value"]?.text.map { [$0] } ?? asked(name)["values"]?.texts ?? []
    }
    (capabilities, contexts) = (values("xms_cc"), values("acrs"))
    notBefore = asked("nbf")["value"]?.seconds.map { UnixTime($0) }
    // A sign-in that cannot be satisfied would only be repeated.
    guard contexts.allSatisfy(Authentication.contexts.contains) else { throw .unsupportedParameter("claims") }
  }

  /// The claims of a sign-in that answers a challenge.
  static func demand(_ name: String, _ value: String) -> String {
    #"{"access_token":{"\#(name)":{"essential":true,"value":"\#(value)"}}}"#
  }
}
