// The description of a listener for its callers' clients (RFC 9728): whose token they need, and for which scopes. It
// comes from the configuration alone: the request's own host could be an attacker's.

internal import Bytes
package import HTTP
internal import Tokens

extension CallerRules.Bearer {
  /// The path of the metadata; the path of a resource may follow.
  private static let metadataPath: StaticString = "/.well-known/oauth-protected-resource"

  /// The resource that a path describes, as a range of the path; nil if it is no path of metadata. An empty one is the
  /// listener as a whole.
  package static func describedResource(_ path: Span<UInt8>) -> ByteRange? {
    let length = metadataPath.utf8CodeUnitCount
    guard path.startsIgnoringCase(with: metadataPath), path.count == length || path[length] == ASCII.slash else {
      return nil
    }
    return ByteRange(from: length, to: path.count)
  }

  /// The metadata of the resource at a path of the listener.
  /// - Parameters:
  ///   - issuer: the issuer of callers' tokens, as it spells itself.
  ///   - name: the route's name.
  package func metadata(of path: String, at publicURL: HTTPURL, issuer: String, name: String?) -> [UInt8] {
    let document = JSONValue([
      "resource": publicURL.origin + path, "authorization_servers": [issuer], "bearer_methods_supported": ["header"],
      "scopes_supported": scopes.words.nonEmpty, "resource_name": name,
    ])
    return Array(document.canonicalText().utf8)
  }

  /// The parameters of a challenge that name the source and the scopes of a token, each behind a comma.
  /// - Parameter path: the path of the request's route, if there is one.
  package func challengeParameters(path: [UInt8]?) -> String {
    var text = scopes.isEmpty ? "" : #", scope="\#(scopes)""#
    if let publicURL {
      var path = String(decoding: path ?? [], as: UTF8.self)
      if path.hasSuffix("/") { path.removeLast() }
      text += #", resource_metadata="\#(publicURL.origin)\#(Self.metadataPath)\#(path)""#
    }
    return text
  }
}
