// Many callers at once that want to wear a proxy out, and an honest one beside them; see Tests/peers/flood.py.

import FoundationEssentials

/// The results of a flood.
package struct Flood: Decodable, Sendable {
  /// The number of connections by their first status; `none` is an end without an answer.
  package let answers: [String: Int]
  package let ended: Int
  /// Seconds until the last of them was ended.
  package let longest: Double
  /// Honest requests made meanwhile.
  package let probes: Int
  /// Those that got no answer, or not the right one.
  package let failed: Int
  /// Those that were made again because the connection ended without a byte of an answer.
  package let repeated: Int
  /// Seconds that the slowest of them took.
  package let slowest: Double

  /// Has `count` connections do what `kind` says, until the proxy at `port` ends them or `hold` seconds have passed.
  /// The honest caller, and those, ask for what is below `path`.
  package static func run(
    _ kind: String, count: Int, port: Int, path: String = "/", hold: Double = 15
  ) async throws -> Flood {
    let text = try await succeed(
      peer("flood.py", ["\(port)", kind, "\(count)", "--path", path, "--hold", "\(hold)"]))
    return try JSONDecoder().decode(Flood.self, from: Data(text.utf8))
  }
}
