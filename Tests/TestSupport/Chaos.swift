// An upstream, and callers, that break off anywhere, and say what became of each exchange; see Tests/peers/chaos.py.

import FoundationEssentials

/// The results of exchanges in which something broke.
package struct Chaos: Decodable, Sendable {
  /// The number of each end: `whole`, `broken`, `left` by the caller, a status, `hung`.
  package let counts: [String: Int]
  /// Forbidden results, in words: another request's answer, a body that is not the right one, half of one that looks
  /// whole.
  package let wrongs: [String]

  /// Makes `count` exchanges through the proxy at `port`, by chance or as `arguments` of the callers say.
  /// - Parameter peer: the callers' script, `chaos_http2.py` for HTTP/2.
  package static func run(
    _ count: Int, port: Int, _ arguments: [String] = [], peer: String = "chaos.py"
  ) async throws -> Chaos {
    let text = try await succeed(
      TestSupport.peer(peer, ["callers", "\(port)", "\(count)"] + arguments), within: .seconds(120))
    return try JSONDecoder().decode(Chaos.self, from: Data(text.utf8))
  }
}
