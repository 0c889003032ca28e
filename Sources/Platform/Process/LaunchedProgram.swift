// A program that this process starts for its user and ends with: it has the same terminal, files and working directory.

internal import CSystem
internal import Glibc

/// The end of a program that this process started.
package enum ProgramEnd: Sendable, Hashable {
  case exited(Int32)
  case killed(signal: Int32)

  /// Reads a status of waitpid(2).
  package init(_ status: Int32) {
    let signal = status & 0x7F
    self = signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
  }

  /// The status by which shells name it.
  package var status: Int32 {
    switch self {
    case .exited(let status): status
    case .killed(let signal): 128 + signal
    }
  }
}

/// A program that runs beside this process.
package final class LaunchedProgram: Sendable {
  private let identifier: pid_t
  private let known = Locked<ProgramEnd?>(nil)

  /// Starts a program, which is looked for in `PATH`.
  /// - Parameters:
  ///   - words: the program, then its arguments.
  ///   - environment: `NAME=value` each.
  package init(_ words: [String], environment: [String]) throws(SystemError) {
    guard let program = words.first else { throw SystemError("posix_spawnp", ENOENT) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Ignored and blocked signals are inherited.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var signals = none
    for signal in Self.passedOn.map(\.number) + [SIGPIPE, SIGCHLD] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    // Until it is known to whom signals go, they wait.
    var (held, former) = (none, none)
    for signal in Self.passedOn { sigaddset(&held, signal.number) }
    sigprocmask(SIG_BLOCK, &held, &former)
    defer { sigprocmask(SIG_SETMASK, &former, nil) }
    let arguments = words.map { strdup($0) } + [nil]
    let variables = environment.map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var process = pid_t()
    let number = posix_spawnp(&process, program, nil, &attributes, arguments, variables)
    guard number == 0 else { throw SystemError("posix_spawnp", number) }
    identifier = process
    // Those that come before a `ProcessSignal` listens are the program's, too: they must not end this process and leave
    // the program behind. Blocking them would not do, as Dispatch unblocks all in the main thread.
    earlyReceiver = process
    for name in Self.passedOn {
      signal(name.number) { number in
        if !LaunchedProgram.isOfTerminal(number) { kill(earlyReceiver, number) }
      }
    }
  }

  /// The signals that are the program's.
  package static let passedOn: [ProcessSignal.Name] = [
    .terminate, .hangUp, .userOne, .userTwo, .interrupt, .quit, .windowChanged,
  ]

  /// True if there is a program whose signals this process passes on.
  static var takesSignals: Bool { earlyReceiver != 0 }

  /// The end of the program; nil while it runs.
  package var end: ProgramEnd? {
    known.withLock { known in
      var status: Int32 = 0
      if known == nil, waitpid(identifier, &status, WNOHANG) == identifier { known = ProgramEnd(status) }
      return known
    }
  }

  /// Passes a signal on, unless the terminal sends it to both.
  package func send(_ signal: ProcessSignal.Name) {
    if Self.isOfTerminal(signal.number) { return }
    known.withLock { known in
      // A number that was waited for may be another program's by now.
      if known == nil { kill(identifier, signal.number) }
    }
  }

  /// True if a terminal sends a signal to the program, too. Signal handlers call it: it allocates nothing.
  private static func isOfTerminal(_ number: Int32) -> Bool {
    (number == SIGINT || number == SIGQUIT || number == SIGWINCH) && tcgetpgrp(STDIN_FILENO) == getpgrp()
  }
}

/// The program that gets signals before a `ProcessSignal` listens. It is set by the only thread.
nonisolated(unsafe) private var earlyReceiver = pid_t(0)
