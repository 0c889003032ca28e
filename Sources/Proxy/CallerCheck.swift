// Owns who may call, as far as the request itself tells: the host it was sent to, whether a browser says that another site is behind
// it, and the secret it carries. A proxy on loopback is within reach of every page in every browser on the machine.

internal import HTTP

/// Why a caller is turned away.
enum CallerRefusal: Error, Sendable, Hashable {
  /// `Host` is none of the listener's names: a page that had its own name resolve to this address (DNS rebinding).
  case unknownHost
  /// The browser marks the request as made by another site (`Sec-Fetch-Site`, or an `Origin` that is not the host).
  case crossSite
  /// The process runs as none of the listener's users and groups.
  case unknownPeer
  /// The certificate has none of the listener's subjects.
  case unknownCertificate
  /// The field with the secret is not there, is there twice, or has another value.
  case missingSecret
  /// The caller's own token is not there, or not one to be believed.
  case untrustedToken
}

/// The names a listener answers to and the rules for its callers.
public struct CallerCheck: Sendable {
  private let names: [[UInt8]]?
  let rules: CallerRules

  /// `names`: hosts accepted, in lower case and without port; `nil` accepts any.
  public init(names: [String]?, rules: CallerRules = CallerRules()) {
    self.names = names?.map { Array($0.utf8) }
    self.rules = rules
  }

  /// Judges a request head.
  func judge(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> CallerRefusal? {
    if !isNamed(head, bytes) { return .unknownHost }
    if rules.refusesCrossSite, isCrossSite(head, bytes), !isAllowedOrigin(head, bytes) { return .crossSite }
    return rules.judgeHeader(head, bytes)
  }

  /// Whether the host is one of the listener's names.
  func isNamed(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard let names else { return true }
    // Only HTTP/1.0 can leave the host out, which no browser does: there is no name that could have been rebound.
    if head.authority.isEmpty { return true }
    let text = bytes.extracting(head.authority)
    guard let authority = HostName(text) else { return false }
    for name in names where authority.names(name, in: text) { return true }
    return false
  }

  private func isCrossSite(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    if let line = head.fields.first(.secFetchSite) {
      let site = bytes.extracting(line.value)
      // `none`: the user typed the address or opened a bookmark. Anything else a page caused (Fetch Metadata §2.3).
      return !(site.equalsIgnoringCase("same-origin") || site.equalsIgnoringCase("none"))
    }
    guard let line = head.fields.first(.origin) else { return false }
    // Browsers before Fetch metadata still send Origin: the part behind `://` must be the host that was asked for.
    let origin = bytes.extracting(line.value)
    var start = 0
    while start + 2 < origin.count, !(origin[start] == 0x3A && origin[start + 1] == 0x2F && origin[start + 2] == 0x2F) {
      start += 1
    }
    guard start + 3 <= origin.count else { return true }
    return !origin.extracting(droppingFirst: start + 3).equalsIgnoringCase(bytes.extracting(head.authority))
  }

  /// Whether the other site is one whose pages may call. It says so itself, but a page cannot make a browser lie (Fetch §3.2).
  private func isAllowedOrigin(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard head.fields.count(of: .origin) == 1, let line = head.fields.first(.origin) else { return false }
    return rules.allows(origin: bytes.extracting(line.value))
  }

  /// Whether the answer to a request is for a page of another site that may read it (Fetch §3.3).
  func answersAnotherSite(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    !rules.origins.isEmpty && isAllowedOrigin(head, bytes)
  }
}
