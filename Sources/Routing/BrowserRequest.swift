// The fields in which a browser names the page behind a request and its purpose. A page can leave some of these fields
// out, and can forge none of them.

internal import Bytes
internal import HTTP

/// The reading of the fields that browsers add by themselves.
enum BrowserRequest {
  /// The origin of a request, as far as it is known.
  enum Source: Sendable, Hashable {
    /// A program: no field of a browser, or of one that was made to send the request.
    case program
    /// A person who typed the address, followed a bookmark or a link in another program.
    case person
    /// A page of the listener's own origin.
    case ownPage
    /// A page of another origin.
    case otherPage
    /// A page, but the browser does not name it; or the browser itself, perhaps on behalf of a page.
    case unknownPage
    /// A page that lists addresses to be fetched before a person asks for them.
    case speculation
    /// A page that installs a service worker.
    case serviceWorker
  }

  /// The fields that indicate a page.
  static var fields: FieldNameSet {
    FieldNameSet(.secFetchSite).with(.origin).with(.secPurpose).with(.purpose).with(.serviceWorker)
  }

  /// True if a request has a field that only browsers send, so that a page may be behind it. An engine that vouches for
  /// the browser removes them.
  static func isBehind(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    if head.fields.containsAny(of: marks) { return true }
    for index in 0..<head.fields.count where head.fields[index].known == .other {
      if bytes.extracting(head.fields[index].name).startsIgnoringCase(with: "sec-fetch-") { return true }
    }
    return false
  }

  private static let marks = FieldNameSet(.origin).with(.secFetchSite).with(.secFetchMode).with(.secFetchDest)
    .with(.secPurpose)

  /// Reads a head. `judgesUnmarked`: its host may be one for which browsers send no Fetch metadata.
  static func source(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, judgesUnmarked: Bool) -> Source {
    // Only browsers send this one, and pages cannot (Service Workers §9).
    if head.fields.contains(.serviceWorker) { return .serviceWorker }
    let site = head.fields.first(.secFetchSite)
    if let site {
      let isOwn = bytes.extracting(site.value).equalsIgnoringCase("same-origin")
      if isSpeculation(head, bytes), !isOwn { return .speculation }
      if isOwn { return isUnsupported(head, bytes) ? .unknownPage : .ownPage }
      // Every value but `none` means that a page caused it (Fetch Metadata §2.3).
      guard bytes.extracting(site.value).equalsIgnoringCase("none") else { return .otherPage }
      if isOpened(head, bytes) { return .person }
      // An extension, which may be one of the listed origins.
      return head.fields.contains(.origin) ? .otherPage : .unknownPage
    }
    if isSpeculation(head, bytes) { return .speculation }
    // Browsers before Fetch metadata still send Origin; so do WebSocket handshakes, and preflights of reports.
    if let origin = head.fields.first(.origin) {
      return isOwn(bytes.extracting(origin.value), head, bytes) ? .ownPage : .otherPage
    }
    if isBelowFetch(head, bytes) { return .unknownPage }
    guard judgesUnmarked, !isMarked(head, bytes), isBrowser(head, bytes) else { return .program }
    guard let referer = head.fields.first(.referer) else { return .unknownPage }
    return isOwn(bytes.extracting(referer.value), head, bytes) ? .ownPage : .otherPage
  }

  /// True if a browser marks its requests to a host without TLS: one that cannot be on another machine (Secure Contexts
  /// §3.1, Fetch Metadata §2). `host` is in lower case, an IPv6 address without brackets.
  static func isMarked(host: Span<UInt8>) -> Bool {
    let name: StaticString = "localhost"
    let count = name.utf8CodeUnitCount
    if host.count >= count, host.extracting(droppingFirst: host.count - count).equalsIgnoringCase(name) {
      return host.count == count || host[host.count - count - 1] == UInt8(ascii: ".")
    }
    if host.equalsIgnoringCase("::1") { return true }
    guard host.startsIgnoringCase(with: "127.") else { return false }
    for index in host.indices where host[index] != UInt8(ascii: ".") && !(0x30...0x39).contains(host[index]) {
      return false
    }
    return true
  }

  private static func isMarked(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    // No browser omits the host.
    head.authority.isEmpty || isMarked(host: bytes.extracting(head.host))
  }

  /// True if the browser fetches ahead of time. `Sec-Purpose` is a browser's alone; `Purpose`, its older name, might be
  /// a program's own field with another value.
  private static func isSpeculation(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    if head.fields.contains(.secPurpose) { return true }
    guard let line = head.fields.first(.purpose) else { return false }
    let value = bytes.extracting(line.value)
    return value.equalsIgnoringCase("prefetch") || value.equalsIgnoringCase("prerender")
      || value.equalsIgnoringCase("preview")
  }

  /// True if a request without a page opens the address in a window or tab, as persons do. A browser also sends all
  /// other such requests to addresses that a server of another site names: the issuer of its certificate (Chromium),
  /// the revocation service of its certificate (Firefox), the certificate of a signed exchange, a proxy's script.
  /// `Sec-Fetch-Dest` is the younger field.
  private static func isOpened(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard let mode = head.fields.first(.secFetchMode), bytes.extracting(mode.value).equalsIgnoringCase("navigate")
    else { return false }
    if let destination = head.fields.first(.secFetchDest) {
      return bytes.extracting(destination.value).equalsIgnoringCase("document")
    }
    guard let user = head.fields.first(named: Array("sec-fetch-user".utf8), in: bytes) else { return false }
    return bytes.extracting(user.value).equalsIgnoringCase("?1")
  }

  /// True if Chromium sends the request from below the layer that adds Fetch metadata and `Accept`: for a proxy's
  /// script, whose address the network can name. Programs that call themselves `Mozilla/` name no engine.
  private static func isBelowFetch(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard !head.fields.contains(.accept), let agent = head.fields.first(.userAgent) else { return false }
    let value = bytes.extracting(agent.value)
    return value.indices.contains { value.extracting(droppingFirst: $0).startsIgnoringCase(with: "applewebkit/") }
  }

  /// True if no other field supports the browser's claim that the listener's own page is behind a request: Chromium
  /// fetches the manifest of a payment method for any page, and calls that `same-origin`.
  private static func isUnsupported(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard let mode = head.fields.first(.secFetchMode), bytes.extracting(mode.value).equalsIgnoringCase("no-cors"),
      let destination = head.fields.first(.secFetchDest),
      bytes.extracting(destination.value).equalsIgnoringCase("empty")
    else { return false }
    if let origin = head.fields.first(.origin) { return !isOwn(bytes.extracting(origin.value), head, bytes) }
    if let referer = head.fields.first(.referer) { return !isOwn(bytes.extracting(referer.value), head, bytes) }
    return true
  }

  /// True if a browser sent the request. Every browser sends `Mozilla/`, which pages cannot change; the other two are
  /// for one that was configured otherwise. Programs that imitate a browser's fetch send `*`.
  private static func isBrowser(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    if head.fields.contains(.upgradeInsecureRequests) { return true }
    if let agent = head.fields.first(.userAgent) {
      if bytes.extracting(agent.value).startsIgnoringCase(with: "mozilla/") { return true }
    }
    guard let languages = head.fields.first(.acceptLanguage) else { return false }
    return !bytes.extracting(languages.value).equalsIgnoringCase("*")
  }

  /// True if an origin, or a URL, has the requested host and port.
  private static func isOwn(_ url: Span<UInt8>, _ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    var start = 0
    while start + 2 < url.count, !(url[start] == 0x3A && url[start + 1] == 0x2F && url[start + 2] == 0x2F) {
      start += 1
    }
    guard start + 3 <= url.count else { return false }
    start += 3
    var end = start
    while end < url.count, url[end] != UInt8(ascii: "/"), url[end] != UInt8(ascii: "?"), url[end] != UInt8(ascii: "#") {
      end += 1
    }
    let isSecure = url.extracting(first: start).equalsIgnoringCase("https://")
    return HostName.areEquivalent(
      url.extracting(start..<end), bytes.extracting(head.authority), scheme: isSecure ? .https : .http)
  }
}
