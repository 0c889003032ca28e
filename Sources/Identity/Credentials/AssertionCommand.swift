package import Bytes
internal import Platform
internal import Tokens

/// A command that prints a JWT.
package struct AssertionCommand: Sendable, Equatable {
  /// The program's path, then its arguments.
  package var words: [String]
  /// The variables that it gets beside ours, `NAME=value` each.
  package var environment: [String]
  /// The values of variables, which its errors must not show.
  package var secrets: [Secret]
  package var limit: TimeSpan

  package init(_ words: [String], environment: [String] = [], secrets: [Secret] = [], within limit: TimeSpan) {
    self.words = words
    self.environment = environment
    self.secrets = secrets
    self.limit = limit
  }
}

package struct AssertionCommandRun: Sendable, Equatable {
  let command: AssertionCommand
  let clientID: String
  let tokenEndpoint: String
  let issuer: String

  /// Maximum bytes of its output: more than any token.
  private static let outputLimit = 64 << 10

  /// The application's proof, by a run now.
  func token() async throws(ClientAssertionError) -> FederatedToken {
    let variables = [
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
      "BEARER_PROXY_CLIENT_ID=\(clientID)", "BEARER_PROXY_TOKEN_ENDPOINT=\(tokenEndpoint)",
      "BEARER_PROXY_ISSUER=\(issuer)",
    ]
    let printed: [UInt8]
    do throws(ExternalCommandError) {
      printed = try await ExternalCommand(command.words, environment: variables + command.environment)
        .run(within: command.limit, outputLimit: Self.outputLimit)
    } catch {
      guard case .failed(let end, let errors) = error else { throw .command(error) }
      throw .command(.failed(end, errors: line(errors)))
    }
    guard let token = FederatedToken(String(decoding: printed.filter { $0 > 0x20 }, as: UTF8.self)) else {
      throw .notSigned(path: nil)
    }
    return token
  }

  /// The first line of its standard error, printable; empty if it shows a secret or a token.
  private func line(_ errors: [UInt8]) -> [UInt8] {
    let lines = errors.split { $0 == 0x0A || $0 == 0x0D }
    guard let first = lines.first(where: { $0.contains { $0 > 0x20 } }) else { return [] }
    let text = String(decoding: first, as: UTF8.self)
    // The beginning of every JWT, and of every object in base64.
    guard !SentSecrets(command.secrets).isRepeated(in: text), !text.contains("eyJ") else { return [] }
    return Array(text.printable(words: 200).utf8)
  }
}
