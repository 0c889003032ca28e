// Many callers at once that want to wear a proxy out, and an honest one beside them; see Tests/peers/flood.py.

import FoundationEssentials

/// What became of a flood.
public struct Flood: Decodable, Sendable {
  /// How many connections got which status first; `none` is an end without an answer.
  public let answers: [String: Int]
  /// Connections that the proxy ended.
  public let ended: Int
  /// Seconds until the last of them was ended.
  public let longest: Double
  /// Honest requests made meanwhile.
  public let probes: Int
  /// Those that got no answer, or not the right one.
  public let failed: Int
  /// Those that were made again because the connection ended without a byte of an answer.
  public let repeated: Int
  /// Seconds that the slowest of them took.
  public let slowest: Double

  /// Has `count` connections do what `kind` says, until the proxy at `port` ends them or `hold` seconds have passed. The honest
  /// caller, and those, ask for what is below `path`.
  public static func run(
    _ kind: String, count: Int, port: Int, path: String = "/", hold: Double = 15
  ) async throws -> Flood {
    let text = try await succeed([
      pinnedPython(), testsDirectory + "/peers/flood.py", "\(port)", kind, "\(count)", "--path", path, "--hold",
      "\(hold)",
    ])
    return try JSONDecoder().decode(Flood.self, from: Data(text.utf8))
  }
}
