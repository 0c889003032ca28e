// The sample APIs' endpoints: which method and path they answer to, and which permission each asks for.

/// An endpoint of a sample API.
enum APIEndpoint: CaseIterable {
  /// Who the API sees.
  case me
  /// A list of orders, or of the ledger's entries.
  case list
  /// Server-sent events: `count` of them, `pause_ms` apart.
  case ticks
  /// Orders that are not sent yet: for those who may write them.
  case drafts
  /// The size and digest of whatever is sent.
  case upload
  /// Something that neither the sample application nor, of itself, a user's consent to the rest was granted.
  case approval
  /// Something that a sign-in with a second factor must stand behind: an authentication context of Entra's.
  case payout
  /// Something that takes a recent sign-in with a second factor: the standard's way to say so (RFC 9470).
  case statement

  /// The endpoint of a method and a path below the API's root; nil: none.
  init?(method: String, path: String) {
    let found = Self.allCases.first { $0.path == path && $0.methods.contains(method) }
    guard let found else { return nil }
    self = found
  }

  /// The methods that some endpoint at `path` takes; empty: there is no endpoint.
  static func methods(at path: String) -> [String] {
    allCases.filter { $0.path == path }.flatMap(\.methods)
  }

  var path: String {
    switch self {
    case .me: "/me"
    case .list: "/list"
    case .ticks: "/ticks"
    case .drafts: "/drafts"
    case .upload: "/uploads"
    case .approval: "/approvals"
    case .payout: "/payouts"
    case .statement: "/statements"
    }
  }

  var methods: [String] {
    switch self {
    case .me, .list, .ticks, .drafts, .statement: ["GET", "HEAD"]
    case .payout: ["GET", "HEAD", "POST"]
    case .upload: ["POST", "PUT"]
    case .approval: ["POST"]
    }
  }

  /// The app role, or delegated scope, that the caller's token must hold; nil: any valid token will do.
  func permission(_ kind: SampleAPI.Kind) -> String? {
    switch (self, kind) {
    case (.me, _), (.payout, _), (.statement, _): nil
    case (.list, .orders), (.ticks, .orders): "Orders.Read"
    case (.upload, .orders), (.drafts, .orders): "Orders.Write"
    case (.approval, .orders): "Orders.Approve"
    case (.list, .ledger), (.ticks, .ledger): "Ledger.Read"
    case (.drafts, .ledger), (.upload, .ledger), (.approval, .ledger): "Ledger.Post"
    }
  }

  /// What the sign-in behind the token must have been.
  func assurance(maximumAge: Int?) -> RequiredAssurance {
    switch self {
    case .me, .list, .ticks, .drafts, .upload, .approval: .any
    case .payout: .context("c1")
    case .statement: .recent(level: Authentication.twofold, seconds: Int64(max(maximumAge ?? 600, 0)))
    }
  }
}
