// Allowed settings that are probably mistakes.

import Bytes
import HTTP
import Routing
import Tokens

extension Settings {
  /// The warnings of `check`, in the order of the file.
  package var warnings: [ConfigurationIssue] {
    let warnings = unreachableSignIns + placeholders + suspectPorts + secretIDs + halfHandedOut + found
    return warnings.isEmpty ? [] : ConfigurationError(warnings).issues
  }

  /// Routes of people whose tokens cannot be brought: neither `login`, which needs a cache that outlives it, nor pages.
  private var unreachableSignIns: [ConfigurationIssue] {
    guard case .memory = cache, listeners.allSatisfy({ $0.signIn == nil }) else { return [] }
    return routes.compactMap { route in
      guard route.token.issued?.isAccounts == true else { return nil }
      return ConfigurationIssue(
        route.place,
        "route '\(route.name)' needs a person, and no one can sign in: set 'cache: {file: PATH}' for 'bearer-proxy "
          + "login', or 'sign_in: true' on a listener for sign-in pages")
    }
  }

  /// Routes whose tokens no listener hands out, and listeners without any.
  private var halfHandedOut: [ConfigurationIssue] {
    let routes = routes.filter(\.tokenRules.isHandedOut)
    let listeners = listeners.filter { $0.handOut == .proxies }
    if listeners.isEmpty {
      return routes.map {
        ConfigurationIssue(
          $0.place, "route '\($0.name)' has hand_out: proxies, and no listener has: no proxy gets its token")
      }
    }
    guard routes.isEmpty else {
      return routes.filter { $0.proxy != nil }.map {
        $0.upstream.issue(
          "route '\($0.name)' has hand_out: proxies and an outbound proxy, which the proxy in front does not use")
      }
    }
    return listeners.map { $0.address.issue("the listener has hand_out: proxies, and no route has: it hands out none") }
  }

  /// Values that an example has.
  private var placeholders: [ConfigurationIssue] {
    given.compactMap { value in
      guard value.key.hasPrefix("applications."), case .file(let place, _) = value.source else { return nil }
      if value.key.hasSuffix(".client_id"), value.value.contains("://") {
        return ConfigurationIssue(
          place, "\(value.key) is a URL, such as an API's: write the id under which the application is registered")
      }
      if value.key.hasSuffix(".client_id"), isPlaceholder(value.value) {
        return ConfigurationIssue(
          place,
          "\(value.key) is a placeholder: write the id under which the application is registered with its provider")
      }
      let words = value.value.split(separator: "/").filter { $0 != "tenant" }
      if value.key.hasSuffix(".authority"), words.contains(where: { isPlaceholder($0) }) {
        return ConfigurationIssue(place, "\(value.key) contains a placeholder: write your tenant's id or domain")
      }
      return nil
    }
  }

  /// Entra's portal lists an id beside each secret.
  private var secretIDs: [ConfigurationIssue] {
    applications.compactMap { application in
      guard case .secret(let secret)? = application.credential, case .entra = application.authority.value.kind,
        secret.count == 36, secret.bytes.withUnsafeBufferPointer({ String(decoding: $0, as: UTF8.self).isGUID })
      else { return nil }
      return application.authority.issue(
        "the client secret of application '\(application.name)' has the form of an id: the portal lists 'Secret ID' "
          + "beside 'Value', and the value is the secret")
    }
  }

  private var suspectPorts: [ConfigurationIssue] {
    routes.compactMap { route in
      let url = route.upstream.value
      switch (url.scheme, url.port) {
      case (.http, 443): return route.upstream.issue("plain HTTP at port 443, where a server usually expects https:")
      case (.https, 80): return route.upstream.issue("TLS at port 80, where a server usually expects http:")
      default: return nil
      }
    }
  }
}

/// True if a text is a placeholder of examples and not an id.
func isPlaceholder(_ text: some StringProtocol) -> Bool {
  let word = text.lowercased().replacing("_", with: "-")
  if word.hasPrefix("<") || word.hasPrefix("your-") || word.hasSuffix("-placeholder") { return true }
  let words: Set = ["placeholder", "client-id", "changeme", "change-me", "todo", "tenant", "tenant-id", "xxx"]
  if words.contains(word) { return true }
  // 00000000-0000-0000-0000-000000000000 and the like.
  let digits = word.filter { $0 != "-" }
  return word.count == 36 && digits.count == 32 && Set(digits).count == 1
}
