internal import Bytes
internal import Platform
internal import Tokens

/// The tenants of authorities by their metadata, remembered from one start to the next: a domain name does not tell
/// under which tenant the cache holds an authority's tokens, which must be found also while the provider is down.
package final class KnownTenants: Sendable {
  private struct State {
    var tenants: [String: String] = [:]
    var isRead = false
  }

  private let state = Locked(State())
  private let text: (any SharedText)?

  /// Keeps the tenants in a text; without one they end with the process.
  init(text: (any SharedText)? = nil) { self.text = text }

  /// The tenant under which the tokens of an authority are stored; nil if its metadata was never read.
  func tenant(of authority: Authority) async -> String? {
    let name = authority.description
    let (known, isRead) = state.withLock { ($0.tenants[name], $0.isRead) }
    if known != nil || isRead { return known }
    guard let text, let bytes = await text.read() else { return nil }
    return state.withLock { state in
      state.tenants.merge(Self.tenants(bytes)) { own, _ in own }
      state.isRead = true
      return state.tenants[name]
    }
  }

  /// Records the tenant of an authority that does not name it itself, for the next start too.
  func remember(_ metadata: ProviderMetadata, of authority: Authority) async {
    guard authority.isolation == nil, authority.knownRealm == nil, !metadata.realm.isEmpty else { return }
    let (name, realm) = (authority.description, metadata.realm)
    if await tenant(of: authority) == realm { return }
    state.withLock { $0.tenants[name] = realm }
    _ = await text?.change { old in
      var tenants = Self.tenants(old)
      tenants[name] = realm
      return Self.bytes(tenants)
    }
  }

  /// Entries kept: a configuration has a handful.
  private static let limit = 256

  private static func tenants(_ text: [UInt8]) -> [String: String] {
    (JSONValue(json: text)?.members?["tenants"]?.members ?? [:]).compactMapValues(\.text)
  }

  private static func bytes(_ tenants: [String: String]) -> [UInt8] {
    let kept = tenants.sorted { $0.key < $1.key }.prefix(limit).map { ($0.key, JSONValue.string($0.value)) }
    let root = JSONValue.object(["tenants": .object(Dictionary(uniqueKeysWithValues: kept))])
    return Array((root.canonicalText() + "\n").utf8)
  }
}
