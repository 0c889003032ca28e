// Owns who may call, as far as the request itself tells: the host it was sent to, and whether a browser says that another
// site is behind it. A proxy on loopback is within reach of every page in every browser on the machine.

internal import HTTP

/// Why a caller is turned away.
enum CallerRefusal: Error, Sendable, Hashable {
  /// `Host` is none of the listener's names: a page that had its own name resolve to this address (DNS rebinding).
  case unknownHost
  /// The browser marks the request as made by another site (`Sec-Fetch-Site`, or an `Origin` that is not the host).
  case crossSite
}

/// The names a listener answers to and whether browsers are checked.
public struct CallerCheck: Sendable {
  private let names: [[UInt8]]?
  private let refusesCrossSite: Bool

  /// `names`: hosts accepted, in lower case and without port; `nil` accepts any.
  public init(names: [String]?, refusesCrossSite: Bool = true) {
    self.names = names?.map { Array($0.utf8) }
    self.refusesCrossSite = refusesCrossSite
  }

  /// Judges a request head.
  func judge(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> CallerRefusal? {
    if let names, !isNamed(names, head, bytes) { return .unknownHost }
    if refusesCrossSite, isCrossSite(head, bytes) { return .crossSite }
    return nil
  }

  private func isNamed(_ names: [[UInt8]], _ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
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
}
