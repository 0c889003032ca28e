// Owns a request to the sign-in pages as their rules see it, and what tells that it comes from one of the pages
// themselves.

internal import HTTP

/// A request, small and whole.
struct SignInPageRequest: Sendable {
  /// Where a browser says that a request comes from (Fetch Metadata §2.3).
  enum Source: Sendable, Hashable {
    /// A page of this origin.
    case ownPage
    /// A page of another.
    case otherPage
    /// No page: an address that was typed, or kept.
    case noPage
    /// It says nothing, or is no browser.
    case unsaid
  }

  var method: String
  var path: String
  /// Without its question mark.
  var query: [UInt8]
  /// `Host`.
  var authority: String
  var cookies: String
  var source: Source
  var body: [UInt8] = []

  init(method: String, path: String, query: String, authority: String, cookies: String = "", source: Source = .unsaid) {
    self.method = method
    self.path = path
    self.query = Array(query.utf8)
    self.authority = authority
    self.cookies = cookies
    self.source = source
  }

  /// Reads a head. `origin`: the pages' own.
  init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>, origin: SignInOrigin) {
    method = bytes.extracting(head.methodName).text
    path = bytes.extracting(head.target.path).text
    query = Array(bytes.extracting(head.target.query).text.utf8)
    authority = bytes.extracting(head.authority).text
    cookies = ""
    for index in 0..<head.fields.count where head.fields[index].known == .cookie {
      cookies += (cookies.isEmpty ? "" : "; ") + bytes.extracting(head.fields[index].value).text
    }
    let site = head.fields.first(.secFetchSite).map { bytes.extracting($0.value).text.lowercased() }
    let from = head.fields.first(.origin).map { bytes.extracting($0.value).text }
    source = Self.source(site: site, from: from, own: origin.text)
  }

  /// `null` is what browsers send for our own forms, whose pages keep their address to themselves (`no-referrer`); the
  /// form's seal decides then.
  static func source(site: String?, from: String?, own: String) -> Source {
    switch site {
    case "same-origin": return .ownPage
    case "none": return .noPage
    case .some: return .otherPage
    case nil: break
    }
    guard let from, from != "null" else { return .unsaid }
    return from == own ? .ownPage : .otherPage
  }
}
