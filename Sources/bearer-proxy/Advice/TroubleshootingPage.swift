// deploy/troubleshooting.md: every message with its cause and its cure. The hidden command `troubleshooting` prints it.
// The program itself gives the cures of the enumerations beside this file.

import Proxy
import Telemetry
import Tokens

/// The page, from the messages in Advice/Page.
enum TroubleshootingPage {
  static var text: String {
    [introduction, configuration, listeners, routes, programs, files, provider, descriptions, answers, log]
      .map { wrapped($0.split(separator: "\n", omittingEmptySubsequences: false)) }.joined(separator: "\n")
  }

  private static let introduction = """
    # Troubleshooting

    Every message that a configuration, an identity provider, an upstream, the cache or a sign-in can cause, with its
    cause and its cure. `…` stands for the part that varies. `bearer-proxy troubleshooting` prints this page: it has the
    same cures as the program.

    Where messages appear: `bearer-proxy check` and the start report mistakes in a configuration as
    `FILE:LINE:COLUMN: error: message`, with a suggestion for a misspelled word. The log and `bearer-proxy status`
    report trouble with provider, cache and upstreams. A caller gets a problem document, whose `detail` is one of the
    sentences under [answers to callers](#answers-to-callers).
    """

  /// The cure for a route that needs a person, with a configuration and a route of these names.
  static func signIn(_ reason: InteractionReason) -> String {
    let cure = OperatorCommands(configuration: "FILE").advice(reason, route: "NAME")
    return cure.hasSuffix(".") ? cure : "\(cure)."
  }

  static func step(_ step: NextStep) -> String { step.rawValue }

  /// The lines with breaks at 120 columns. An entry of a list has its message on lines of its own.
  private static func wrapped(_ lines: [Substring]) -> String {
    var text = ""
    var block = ""
    func end() {
      if block.hasPrefix("- "), let message = block.firstRange(of: "`\\ ") {
        text += wrapped(block[..<message.upperBound], indent: "", further: "  ")
        text += wrapped(block[message.upperBound...], indent: "  ", further: "  ")
      } else if !block.isEmpty {
        text += wrapped(block[...], indent: "", further: "")
      }
      block = ""
    }
    for line in lines {
      if line.isEmpty || line.hasPrefix("#") || line.hasPrefix("- ") { end() }
      if line.isEmpty { text += "\n" } else { block += "\(line.drop { $0 == " " }) " }
    }
    end()
    return text
  }

  private static func wrapped(_ words: Substring, indent: String, further: String) -> String {
    var lines: [String] = []
    for word in words.split(separator: " ") {
      if let line = lines.last, line.count + 1 + word.count <= 120 {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append((lines.isEmpty ? indent : further) + word)
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
