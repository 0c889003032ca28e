import Bytes
import Glibc
import Platform

/// A running program: a proxy that users would run, or a command of the tour. No shell is involved.
final class ChildProcess: Sendable {
  private let identifier: pid_t
  private let ended = Locked<Int32?>(nil)

  /// Starts `words[0]`, looked up in PATH, with an empty standard input and both outputs at the descriptor `output`.
  init(_ words: [String], output: Int32) throws(DemonstrationError) {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    for stream in [STDOUT_FILENO, STDERR_FILENO] { posix_spawn_file_actions_adddup2(&actions, output, stream) }
    // Ignored signals are inherited.
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let status = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
    guard status == 0 else {
      throw DemonstrationError("cannot start \(words[0]): \(SystemError("posix_spawn", status))")
    }
    identifier = process
  }

  /// The exit status if the program has ended, or 128 plus the signal that ended it.
  func poll() -> Int32? {
    ended.withLock { known in
      var status: Int32 = 0
      if known == nil, waitpid(identifier, &status, WNOHANG) == identifier { known = ProgramEnd(status).status }
      return known
    }
  }

  /// Waits for the end, at most `seconds`. Returns nil if the program still runs.
  func wait(seconds: Int) -> Int32? {
    for _ in 0..<seconds * 50 where poll() == nil { usleep(20_000) }
    return poll()
  }

  /// Asks the program to end, and kills it after five seconds. Returns nil if it had to be killed.
  @discardableResult
  func terminate() -> Int32? {
    if poll() == nil { kill(identifier, SIGTERM) }
    if let status = wait(seconds: 5) { return status }
    kill(identifier, SIGKILL)
    _ = wait(seconds: 5)
    return nil
  }
}

/// A command that has run.
struct CommandRun {
  let status: Int32
  let text: String

  /// Runs `words` to the end. Calls `hear` with each piece of output as it comes.
  init(_ words: [String], hear: (String) -> Void = { _ in }) throws(DemonstrationError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw DemonstrationError("cannot start \(words[0]): \(SystemError("pipe"))") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    let child: ChildProcess
    do {
      defer { close(ends[1]) }
      child = try ChildProcess(words, output: ends[1])
    }
    var (bytes, piece): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 16 * 1024))
    while case let count = read(ends[0], &piece, piece.count), count > 0 || (count < 0 && errno == EINTR) {
      bytes += piece.prefix(max(count, 0))
      if count > 0 { hear(String(decoding: piece[..<count], as: UTF8.self)) }
    }
    status = child.wait(seconds: 30) ?? -1
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
