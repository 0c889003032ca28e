// Owns a question at a terminal that may be left unanswered: whoever interrupts the command is not kept waiting for a
// line.

import Glibc
import Network

/// Asks at the terminal.
struct TerminalQuestion: Sendable {
  private static let reader = FileQueue("terminal")

  /// Whether there is a person to ask.
  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 }

  /// Whether the answer is yes. Everything else, an interrupt too, is no.
  static func isAffirmed(_ question: String) async -> Bool {
    complain(question)
    let waiting = Locked<CheckedContinuation<String?, Never>?>(nil)
    @Sendable func answer(_ line: String?) {
      waiting.withLock { continuation in
        defer { continuation = nil }
        return continuation
      }?.resume(returning: line)
    }
    let line = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting.withLock { $0 = continuation }
        if Task.isCancelled { answer(nil) }
        Task { answer(await reader.run { readLine(strippingNewline: true) }) }
      }
    } onCancel: {
      answer(nil)
    }
    return ["y", "yes"].contains(line?.lowercased().filter { $0 != " " } ?? "")
  }
}
