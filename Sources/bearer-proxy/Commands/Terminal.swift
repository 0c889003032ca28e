// Questions to a person at the terminal, or to a program that answers on standard input, and the line that counts down
// while a person signs in.

import Bytes
import Glibc
import Identity
import Platform
import Tokens

/// Standard input, and standard error for the questions. Tests bring answers of their own.
struct Terminal: Sendable {
  /// True if a person can answer.
  var isInteractive = isatty(STDIN_FILENO) == 1
  /// True if a person sees what is written to standard output.
  var showsOutput = isatty(STDOUT_FILENO) == 1
  /// The lines of standard input up to an empty one, of a program that calls the command; at most a hundred.
  var readRequest: @Sendable () -> [String] = {
    var lines: [String] = []
    while lines.count < 100, let line = readLine(strippingNewline: true), !line.isEmpty { lines.append(line) }
    return lines
  }
  /// Asks, and returns the answer's line without its end; nil at the end of the input. A secret is not shown while it
  /// is typed.
  var ask: @Sendable (_ question: String, _ isSecret: Bool) -> String? = { question, isSecret in
    writeError(question)
    return isSecret ? readHiddenLine() : readLine(strippingNewline: true)
  }
  /// True if the answer is yes. Everything else, an interrupt too, is no.
  var confirm: @Sendable (_ question: String) async -> Bool = { question in
    writeError(question)
    return ["y", "yes"].contains(await nextLine()?.lowercased().filter { $0 != " " } ?? "")
  }
}

/// Reads a line without showing it.
private func readHiddenLine() -> String? {
  var shown = termios()
  guard isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &shown) == 0 else { return readLine(strippingNewline: true) }
  var hidden = shown
  hidden.c_lflag &= ~tcflag_t(ECHO)
  let original = shown
  // An interrupt leaves the terminal as it was.
  let handlers = [ProcessSignal.Name.interrupt, .terminate].map { name in
    ProcessSignal(name) {
      var terminal = original
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal)
      writeError("\n")
      exit(ExitStatus.failed.rawValue)
    }
  }
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
  defer {
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
    writeError("\n")
    withExtendedLifetime(handlers) {}
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
  }
  return readLine(strippingNewline: true)
}

private let terminalReader = FileQueue("terminal")

/// The next line; nil at the end of the input, and as soon as the task is cancelled.
private func nextLine() async -> String? {
  let waiting = Locked<CheckedContinuation<String?, Never>?>(nil)
  @Sendable func answer(_ line: String?) {
    waiting.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }?.resume(returning: line)
  }
  return await withTaskCancellationHandler {
    await withCheckedContinuation { continuation in
      waiting.withLock { $0 = continuation }
      if Task.isCancelled { answer(nil) }
      Task { answer(await terminalReader.run { readLine(strippingNewline: true) }) }
    }
  } onCancel: {
    answer(nil)
  }
}

/// A line that counts down how long a device code is valid. Without a terminal there is none.
final class CountdownLine: Sendable {
  private let now: @Sendable () -> UnixTime
  private let write: @Sendable (String) -> Void
  private let task = Locked<Task<Void, Never>?>(nil)
  private let isShown: Bool

  init(
    now: @escaping @Sendable () -> UnixTime, write: @escaping @Sendable (String) -> Void,
    isShown: Bool = isatty(STDERR_FILENO) == 1
  ) {
    self.now = now
    self.write = write
    self.isShown = isShown
  }

  func begin(until end: UnixTime) {
    guard isShown else { return }
    let (now, write, task) = (now, write, task)
    let counting = Task {
      while !Task.isCancelled, now() < end {
        // Under the lock, so that nothing is drawn once the line has been taken away.
        task.withLock { _ in if !Task.isCancelled { write("\r\(Self.text(end - now()))  ") } }
        await TokenBroker.sleep(1)
      }
    }
    task.withLock { $0 = counting }
  }

  /// Takes the line away.
  func end() {
    task.withLock { counting in
      guard let counting else { return }
      counting.cancel()
      write("\r\u{1B}[K")
    }
  }

  private static func text(_ seconds: Int64) -> String {
    let rest = seconds % 60
    return "Waiting for the sign-in, \(seconds / 60):\(rest < 10 ? "0" : "")\(rest) left"
  }
}
