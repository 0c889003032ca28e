// A listener's `sign_in`: its pages, and the address by which browsers reach them.

import Bytes
import HTTP
import Routing

extension SettingsDecoder {
  private static let signInForms = "true, false or {public_url: URL, limit: DURATION, logout: true}"

  mutating func signIn(_ listener: Section, address: Located<SocketAddress>?) -> SignInSettings? {
    guard let node = listener[.signIn] else { return nil }
    if case .scalar(let written) = node.content {
      switch written {
      case "false": return nil
      case "true":
        reportUnknownAddress(node, address)
        return SignInSettings(publicURL: nil, limit: SignInSettings.usualLimit)
      default: return refuse(node, that: "is \(Self.signInForms), not '\(written)'")
      }
    }
    guard let section = section(listener, .signIn) else { return nil }
    let limit = duration(section, .limit) ?? SignInSettings.usualLimit
    let hasLogout = boolean(section, .logout)
    guard section.members[.publicURL] != nil else {
      reportUnknownAddress(node, address)
      return SignInSettings(publicURL: nil, limit: limit, hasLogout: hasLogout)
    }
    return publicURL(section).map { SignInSettings(publicURL: $0, limit: limit, hasLogout: hasLogout) }
  }

  /// Browsers of this machine alone know a listener by its own address.
  private mutating func reportUnknownAddress(_ signIn: YAMLNode, _ address: Located<SocketAddress>?) {
    guard let address, address.value.ipAddress?.isLoopback != true else { return }
    report(
      signIn, that: "needs a public_url: by which address browsers reach \(address.value) cannot be told from it")
  }

  /// No link and no form makes a browser send a field of ours; something in front of the listener can.
  mutating func reportUnreachablePages(_ listener: Section, _ signIn: SignInSettings, _ callers: CallerSettings) {
    guard signIn.publicURL == nil, let node = listener[.signIn] else { return }
    let rule: Key? = callers.rules.header != nil ? .header : callers.issuer != nil ? .bearer : nil
    guard let rule else { return }
    report(
      node,
      "no browser brings what callers.\(rule.rawValue) demands; give the pages a listener of their own, or the "
        + "public_url of a proxy in front that adds it")
  }

  /// The URL by which a listener is reached. Pages and metadata have their places at its root.
  mutating func publicURL(_ section: Section) -> HTTPURL? {
    guard let scalar = self.scalar(section, .publicURL), let url = url(scalar) else { return nil }
    if url.target != "/" { return refuse(scalar, "'\(scalar.written)' has a path; write scheme and host alone") }
    // Codes and cookies would travel in the clear, and no provider sends a browser there.
    if url.scheme == .http, !url.isLoopback { return refuse(scalar, "'\(scalar.written)' is not https") }
    return url
  }
}
