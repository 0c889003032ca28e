// `init`: the questions, until each has an answer that the configuration's rules accept, and two files that were not
// there before. The text of the configuration is FirstConfiguration's, the questions Terminal's.

import Bytes
import Configuration
import Glibc
import Platform
import Proxy
import Tokens

/// Asks for a first configuration and writes it.
struct InitCommand {
  let configuration: String

  func answer(in context: CommandContext) throws(CommandError) -> CommandAnswer {
    for path in [configuration, secretPath] where exists(path) {
      throw .failed("\(path) exists, and init overwrites nothing; name another file with --config")
    }
    guard let (first, secret) = questions(in: context) else {
      throw .failed("the input ended before the last question; nothing was written")
    }
    if let secret { try write(secretPath, mode: 0o600, secret.bytes) }
    do throws(CommandError) {
      let text = Array(first.yaml().utf8)
      try write(configuration, mode: 0o644, text.span)
    } catch {
      // Half a configuration would make the next try fail.
      if secret != nil { unlink(secretPath) }
      throw error
    }
    return verdict(on: first, in: context)
  }

  private func write(_ path: String, mode: mode_t, _ bytes: Span<UInt8>) throws(CommandError) {
    do throws(SystemError) {
      try writeNewFile(path, mode: mode, bytes)
    } catch {
      throw .failed("cannot write \(path): \(error.reason); nothing was written")
    }
  }

  private func verdict(on first: FirstConfiguration, in context: CommandContext) -> CommandAnswer {
    let written = first.hasSecret ? "\(configuration) and \(secretPath)" : configuration
    do throws(CommandError) {
      let checked = try CheckCommand(configuration: configuration).answer(in: context).text
      let next =
        first.hasSecret
        ? "bearer-proxy token -c \(configuration.shellWord) --route \(first.routeName)     # asks the provider"
        : "bearer-proxy login -c \(configuration.shellWord) --route \(first.routeName)     # opens a browser"
      return CommandAnswer(
        text: "wrote \(written)\n\(checked)\nNext:\n  \(next)\n  bearer-proxy run -c \(configuration.shellWord)\n",
        status: .done)
    } catch {
      return CommandAnswer(
        text: "wrote \(written), which cannot be used as it is:\n\(error.answer.text)", status: .usage)
    }
  }

  /// Beside the configuration, under its name.
  private var secretPath: String {
    let stem = [".yaml", ".yml"].first { configuration.hasSuffix($0) }.map { configuration.dropLast($0.count) }
    return "\(stem ?? configuration[...]).secret"
  }

  private func questions(in context: CommandContext) -> (FirstConfiguration, Secret?)? {
    var first = FirstConfiguration(secretFile: secretPath.split(separator: "/").last.map(String.init) ?? secretPath)
    var secret: Secret?
    for question in FirstConfiguration.Question.allCases {
      while true {
        guard let typed = context.terminal.ask(text(question, first), question == .secret) else { return nil }
        // What was pasted often has a blank at an end.
        let answer = String(typed.trimmed { [" ", "\t", "\r", "\n"].contains($0) })
        var next = first
        switch question {
        case .authority: next.authority = answer
        case .clientID: next.clientID = answer
        case .secret:
          next.hasSecret = !answer.isEmpty
          secret = answer.isEmpty ? nil : Secret(answer)
        case .upstream: next.upstream = answer
        case .path: next.path = answer.isEmpty ? first.suggestedPath : answer
        case .scopes: next.scopes = answer.split(separator: " ").map(String.init)
        }
        guard let problem = next.problem() else {
          first = next
          break
        }
        context.writeProgress("\(problem)\n")
      }
    }
    return (first, secret)
  }

  private func text(_ question: FirstConfiguration.Question, _ first: FirstConfiguration) -> String {
    switch question {
    case .authority: "Identity provider, such as https://login.microsoftonline.com/TENANT or an OpenID Connect issuer: "
    case .clientID: "Client id, under which the application is registered there: "
    case .secret: "Client secret, not shown; nothing if people sign in instead: "
    case .upstream: "Your API, such as https://orders.example/api/: "
    case .path: "Path on this machine that leads there [\(first.suggestedPath)]: "
    case .scopes:
      first.hasSecret
        ? "What the token is for, such as api://orders/.default: "
        : "What the token is for: scopes with blanks between, such as User.Read: "
    }
  }
}
