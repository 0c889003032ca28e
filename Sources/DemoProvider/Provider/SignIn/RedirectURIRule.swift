// Owns where a sign-in may return to.

internal import HTTP

/// Whether a redirect URI is one of an application's.
enum RedirectURIRule {
  /// The registered ones are compared as text. One on loopback stands for every port
  /// (RFC 8252 §7.3; Entra does the same with and without TLS), and, without a path, for the one with a slash.
  static func allows(_ uri: String, registered: [String]) -> Bool {
    if registered.contains(uri) { return true }
    guard let asked = loopback(uri) else { return false }
    return registered.compactMap(loopback).contains {
      $0.scheme == asked.scheme && $0.host == asked.host && $0.target == asked.target
    }
  }

  private static func loopback(_ uri: String) -> HTTPURL? {
    do throws(HTTPURLError) {
      let url = try HTTPURL(uri)
      return url.isLoopback ? url : nil
    } catch {
      return nil
    }
  }
}
