// Child processes: the proxy that users would run, and the commands of the tour. No shell is involved.

import Platform
import Glibc

/// Why a program could not be started: the system's words.
struct SpawnError: Error {
  var program: String
  var reason: String
}

/// Where a child's output goes.
enum ChildOutput {
  /// Into this file, which is emptied first.
  case file(String)
  /// Behind what this file holds.
  case endOfFile(String)
  /// Back to us, through a pipe.
  case pipe
}

/// A running program.
final class ChildProcess: Sendable {
  private let identifier: pid_t
  /// Our end of the pipe; -1 where there is none.
  private let readEnd: Int32
  private let ended = Locked<Int32?>(nil)

  /// Starts `words[0]`, looked up in PATH, with nothing on its standard input and both outputs at `output`.
  init(_ words: [String], _ output: ChildOutput) throws(SpawnError) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    var ends: [Int32] = [-1, -1]
    switch output {
    case .file(let path):
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    case .endOfFile(let path):
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    case .pipe:
      guard Glibc.pipe(&ends) == 0 else {
        throw SpawnError(program: words[0], reason: String(cString: strerror(errno)))
      }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    }
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)

    // We ignore signals that the child is to die of, and ignoring is inherited.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))

    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let status = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
    if ends[1] >= 0 { close(ends[1]) }
    guard status == 0 else {
      if ends[0] >= 0 { close(ends[0]) }
      throw SpawnError(program: words[0], reason: String(cString: strerror(status)))
    }
    identifier = process
    readEnd = ends[0]
  }

  deinit {
    if readEnd >= 0 { close(readEnd) }
  }

  /// Calls `take` with each piece of output as it comes, until the child closes it.
  func readOutput(_ take: ([UInt8]) -> Void) {
    var piece = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      let count = read(readEnd, &piece, piece.count)
      if count > 0 { take(Array(piece[..<count])) }
      if count == 0 || (count < 0 && errno != EINTR) { return }
    }
  }

  /// The exit status once it has ended (128 plus the signal that ended it), else nil.
  func poll() -> Int32? {
    ended.withLock { known in
      if let known { return known }
      var status: Int32 = 0
      guard waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
      known = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
      return known
    }
  }

  /// Waits for the end, at most `seconds`; nil where it still runs.
  func wait(seconds: Double) -> Int32? {
    for _ in 0..<Int(seconds * 50) {
      if let status = poll() { return status }
      usleep(20_000)
    }
    return poll()
  }

  /// Ends it: politely, then after five seconds for good. The exit status, where it ended politely.
  @discardableResult
  func terminate() -> Int32? {
    if let status = poll() { return status }
    kill(identifier, SIGTERM)
    if let status = wait(seconds: 5) { return status }
    kill(identifier, SIGKILL)
    _ = wait(seconds: 5)
    return nil
  }
}
