// Owns the sample API's endpoints: which method and path they answer to, and which permission each asks for.

/// An endpoint of the sample API.
enum APIEndpoint: CaseIterable {
  /// Who the API sees.
  case me
  /// A list of orders.
  case list
  /// Server-sent events: `count` of them, `pause_ms` apart.
  case ticks
  /// The size and digest of whatever is sent.
  case upload
  /// Something that the sample application was not granted.
  case approval

  /// The endpoint of a method and path; nil: none.
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
    case .me: "/api/me"
    case .list: "/api/list"
    case .ticks: "/api/ticks"
    case .upload: "/api/uploads"
    case .approval: "/api/approvals"
    }
  }

  var methods: [String] {
    switch self {
    case .me, .list, .ticks: ["GET", "HEAD"]
    case .upload: ["POST", "PUT"]
    case .approval: ["POST"]
    }
  }

  /// The app role, or delegated scope, that the caller's token must hold; nil: any valid token will do.
  var permission: String? {
    switch self {
    case .me: nil
    case .list, .ticks: "Orders.Read"
    case .upload: "Orders.Write"
    case .approval: "Orders.Approve"
    }
  }
}
