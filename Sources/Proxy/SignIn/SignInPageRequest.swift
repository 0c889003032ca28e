internal import Bytes
internal import HTTP
internal import Tokens

struct SignInPageRequest: Sendable {
  /// The origin of a request in the browser's words (Fetch Metadata §2.3).
  enum Source: Sendable, Hashable {
    case ownPage
    case otherPage
    /// No page: a typed address, or a bookmark.
    case noPage
    /// Not given, or by no browser.
    case unsaid
  }

  var method: String
  var path: String
  /// Without its question mark.
  var query: [UInt8]
  var authority: String
  var cookies: String
  var source: Source
  var caller = SignInCaller(peer: "", user: nil)
  var body: [UInt8] = []

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

  /// `null` is the browsers' value for our own forms, whose pages keep their address to themselves (`no-referrer`); the
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

struct RouteSignInRequirement: Sendable, Hashable {
  /// The scopes of the token: the route's, and those that were required since.
  var scopes: ScopeSet
  var need: SignInRequirement

  /// A route's scopes, and its remembered requirement; nil: none.
  init(_ need: SignInRequirement?, configured: ScopeSet, now: UnixTime) {
    self.need = need ?? SignInRequirement(since: now)
    // `.default` cannot be combined with other scopes, and brings all there are.
    let takesCompany = !configured.words.contains { $0.hasSuffix("/.default") }
    scopes = takesCompany ? configured.union(self.need.scopes) : configured
  }

  var met: SignInRequirement {
    var met = need
    met.scopes = scopes.union(need.scopes)
    return met
  }
}
