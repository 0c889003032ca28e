// A finished command of the tour: what it printed, when, and what of it is an HTTP answer.

import Bytes
import Platform

/// A command that has ended.
struct CommandRun {
  /// Its exit status.
  var status: Int32
  /// Everything it printed, both streams.
  var text: String
  /// When the pieces of its output came, since the first.
  var arrivals: [Duration]

  /// Runs `words` to the end. `show` is called with each piece of output as it comes, and the time since the start.
  static func run(
    _ words: [String], show: (String, Duration) -> Void = { _, _ in }
  ) throws(SpawnError) -> CommandRun {
    let child = try ChildProcess(words, .pipe)
    let start = MonotonicTime.now
    var bytes: [UInt8] = []
    var arrivals: [Duration] = []
    child.readOutput { piece in
      bytes += piece
      arrivals.append(Duration(MonotonicTime.now - start))
      show(String(decoding: piece, as: UTF8.self), Duration(MonotonicTime.now - start))
    }
    let status = child.wait(seconds: 30) ?? -1
    return CommandRun(status: status, text: String(decoding: bytes, as: UTF8.self), arrivals: arrivals)
  }

  /// The HTTP status in the first line of an answer printed by `curl -i`; 0 where there is none.
  var httpStatus: Int {
    guard text.hasPrefix("HTTP/") else { return 0 }
    return text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) } ?? 0
  }

  /// What follows the head of an answer printed by `curl -i`.
  var body: String {
    text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? text
  }

  /// The first value of a field, by its lower-case name.
  func field(_ name: String) -> String? {
    for line in text.split(separator: "\r\n", omittingEmptySubsequences: false) {
      if line.isEmpty { return nil }
      guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name else { continue }
      return String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    return nil
  }
}
