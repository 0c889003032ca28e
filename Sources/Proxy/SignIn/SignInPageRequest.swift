// A request to the sign-in pages as their rules see it, and what tells that it comes from one of the pages themselves.

internal import Bytes
internal import HTTP
internal import Tokens

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
  var caller = SignInCaller(peer: "", user: nil)
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

/// An answer of the sign-in pages.
struct SignInAnswer: Sendable {
  var status: Int
  /// Names as they are sent; framing fields are the connection's.
  var fields: [(name: StaticString, value: String)] = []
  var body: [UInt8] = []

  /// Sends the browser on by GET.
  static func seeOther(_ location: String) -> SignInAnswer {
    SignInAnswer(
      status: 303,
      fields: [("Location", location), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")])
  }
}

/// What a sign-in has to bring for a route.
struct RouteSignInRequirement: Sendable, Hashable {
  /// What the token is for: the route's scopes, and those that were asked for since.
  var scopes: ScopeSet
  /// What else, as it was asked for.
  var need: SignInRequirement

  /// A route's scopes, and what is remembered of it; nil: nothing.
  init(_ need: SignInRequirement?, configured: ScopeSet, now: UnixTime) {
    self.need = need ?? SignInRequirement(since: now)
    // `.default` takes no company, and brings all there is.
    let takesCompany = !configured.words.contains { $0.hasSuffix("/.default") }
    scopes = takesCompany ? configured.union(self.need.scopes) : configured
  }

  /// The need that this sign-in meets.
  var met: SignInRequirement {
    var met = need
    met.scopes = scopes.union(need.scopes)
    return met
  }
}
