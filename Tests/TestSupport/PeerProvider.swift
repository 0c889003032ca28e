// Identity providers that we did not write, each with one confidential application and one person. What is particular
// about each are explained in its script below Tests/peers.

/// An identity provider, and the person who signs in there.
package struct PeerProvider: Sendable {
  package enum Kind: String, Sendable {
    /// Python; strict about scopes and about the registered way to authenticate.
    case canaille
    /// C; device codes, refresh tokens for one use, refusals without an OAuth error.
    case glewlwyd
    /// Authlib with refresh tokens for one use (Tests/peers/openid_provider.py).
    case authlib
    /// oidc-provider-mock; metadata that list no way to authenticate. It knows every secret.
    case mock
  }

  package let kind: Kind
  package let issuer: String
  private let peer: PythonPeer

  package static let client = "desk"
  /// Its secret. A test searches everything the proxy wrote for it.
  package static let secret = "s3cret-of-the-desk"
  private static let password = "kettle-harbour-7"
  /// The scopes of the application beside `openid` and `profile`.
  package static let scopes = ["email", "phone"]

  /// Starts it.
  /// - Parameters:
  ///   - certificate: its TLS certificate, if it serves TLS.
  ///   - method: the registered authentication of the application.
  ///   - lifetime: seconds that its access tokens live.
  ///   - arguments: further options of its script.
  package init(
    _ kind: Kind, in directory: TemporaryDirectory? = nil, https certificate: CertificateAuthority.Certificate? = nil,
    method: String = "client_secret_basic", lifetime: Int, _ arguments: [String] = []
  ) async throws {
    self.kind = kind
    let directory = try directory ?? TemporaryDirectory()
    let scopes = Self.scopes.flatMap { ["--scope", $0] }
    let known = ["--client", "\(Self.client):\(Self.secret)", "--auth-method", method] + scopes
    let person = ["--password", Self.password]
    let words =
      switch kind {
      case .canaille: ["canaille_provider.py"] + known + person
      case .glewlwyd: ["glewlwyd_provider.py", "--directory", directory.file("glewlwyd")] + known + person
      case .authlib:
        ["openid_provider.py"] + known + ["--signs-in", Self.client, "--person", "ann:\(Self.password)"]
      case .mock: ["mock_provider.py"]
      }
    let options = words.dropFirst() + ["--expires-in", "\(lifetime)"] + (certificate?.options ?? []) + arguments
    peer = try await PythonPeer(words[0], Array(options), in: directory)
    issuer = "http\(certificate == nil ? "" : "s")://127.0.0.1:\(peer.port)" + (kind == .glewlwyd ? "/api/oidc" : "")
  }

  /// Has the person sign in for a route, through the provider's own pages; what the command left.
  package func signIn(_ configuration: String, route: String) async throws -> CommandResult {
    // glewlwyd compares redirect URIs with their port, so its people type a code.
    let options = ["--route", route] + (kind == .glewlwyd ? ["--device-code"] : [])
    let login = try Login(configuration, options)
    let person = try TestSupport.peer(
      "peer_person.py", [kind.rawValue, "--user", "ann", "--password", Self.password])
    if kind == .glewlwyd {
      let (address, code) = try await login.deviceCode()
      try await succeed(person + ["device", address, code])
    } else {
      try await succeed(person + ["authorize", try await login.address()])
    }
    return try await login.result()
  }
}
