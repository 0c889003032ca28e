import Bytes
import DemoProvider
import Glibc
import Platform

/// A command that has run.
struct CommandRun {
  let status: Int32
  let text: String

  /// Runs `words` to the end. Calls `hear` with each piece of output as it comes.
  init(
    _ words: [String], hear: (String) throws(DemonstrationError) -> Void = { _ in }
  ) throws(DemonstrationError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw DemonstrationError("cannot start \(words[0]): \(SystemError("pipe"))") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    let program: StartedProgram
    do {
      defer { close(ends[1]) }
      program = try .start(words, output: ends[1])
    }
    var (bytes, piece): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 16 * 1024))
    while case let count = read(ends[0], &piece, piece.count), count > 0 || (count < 0 && errno == EINTR) {
      bytes += piece.prefix(max(count, 0))
      if count > 0 { try hear(String(decoding: piece[..<count], as: UTF8.self)) }
    }
    status = program.wait(seconds: 30) ?? -1
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// The status of a response that `curl -i` printed, in numbers and words.
  var statusText: String {
    text.hasPrefix("HTTP/") ? String(text.prefix { !$0.isNewline }.drop { $0 != " " }.dropFirst()) : ""
  }

  var httpStatus: Int { Int(statusText.prefix(3)) ?? 0 }

  /// The content behind the head that `curl -i` printed.
  var body: String { text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? text }

  /// The challenge in a response that `curl -i` printed.
  var challenge: String? { text.firstMatch(of: /(?i)\r\nwww-authenticate: *([^\r]*)/).map { String($0.1) } }
}

extension StartedProgram {
  /// Starts a program with both outputs at the descriptor `output`.
  static func start(_ words: [String], output: Int32) throws(DemonstrationError) -> StartedProgram {
    try mapping(
      { (error: SystemError) in DemonstrationError("cannot start \(words[0]): \(error)") },
      StartedProgram(words, outputs: [output, output]))
  }

  /// Waits for the end, at most `seconds`. Returns the status; nil if the program still runs.
  func wait(seconds: Int) -> Int32? {
    for _ in 0..<seconds * 50 where end == nil { usleep(20_000) }
    return end?.status
  }

  /// Asks the program to end, and kills it after five seconds. Returns nil if it had to be killed.
  @discardableResult
  func terminate() -> Int32? {
    send(SIGTERM)
    if let status = wait(seconds: 5) { return status }
    send(SIGKILL)
    _ = wait(seconds: 5)
    return nil
  }
}
