// The text of a first configuration: the answers to the questions of `init`, with a comment on each part; and the
// making of its files. InitCommand asks the questions.

import Configuration
import Glibc
import HTTP
import Platform
import Tokens

/// Answers, as far as they are given, and the file that follows from them.
struct FirstConfiguration: Equatable {
  enum Question: CaseIterable {
    case authority, clientID, secret, upstream, path, scopes
  }

  var authority: String?
  var clientID: String?
  /// True if the application has a secret, and so tokens of its own. Without one, people sign in.
  var hasSecret = false
  var upstream: String?
  var path: String?
  var scopes: [String]?
  /// The name of the API in requests for its tokens (RFC 8707), if it has told.
  var resource: String?
  /// The file that holds the secret, as the configuration names it.
  let secretFile: String

  /// Answers that any rule accepts, for what has not been answered yet.
  private static let placeholder = "https://placeholder.example/"

  /// The name of the first route: the last word of its path.
  var routeName: String {
    let word = (path ?? "").split(separator: "/").last ?? "all"
    return String(
      word.unicodeScalars.prefix(64).map { scalar in
        switch scalar {
        case "0"..."9", "A"..."Z", "a"..."z", "-", ".", "_": Character(scalar)
        default: "-"
        }
      })
  }

  /// A path that suits the upstream: the first word of its host that says something.
  var suggestedPath: String {
    guard let upstream, let url = HTTPURL(readable: upstream) else { return "/api/" }
    let word = url.host.split(separator: ".").map(String.init).first { !["www", "api"].contains($0) }
    guard let word, word.first?.isLetter == true, word != "localhost" else { return "/api/" }
    return "/\(word)/"
  }

  /// The mistake in the answers so far, by the rules of the configuration; nil if there is none.
  func problem() -> String? {
    do throws(ConfigurationError) {
      // The secret is not in its file yet, and every variable that an answer could name would be a mistake.
      _ = try Settings.decode(yaml: Array(yaml(isDraft: true).utf8), file: "answers", environment: [:])
      return nil
    } catch {
      return error.issues.map { issue in
        // Keys mean little before the file exists: `routes[0].upstream: 'ftp://…' begins …`.
        issue.message.split(separator: ": ", maxSplits: 1).last.map(String.init) ?? issue.message
      }.joined(separator: "\n")
    }
  }

  func yaml() -> String { yaml(isDraft: false) }

  private func yaml(isDraft: Bool) -> String {
    let secret =
      isDraft
      ? "client_secret: placeholder"
      : "# In a file of its own, which no other user may read.\n    client_secret_file: \(scalar(secretFile))"
    let credential =
      hasSecret ? secret : "# No client secret: a public client. People sign in with 'bearer-proxy login'."
    return """
      # A first configuration for bearer-proxy, written by 'bearer-proxy init'. It is yours to change; afterwards,
      # 'bearer-proxy check -c FILE' reports every mistake in its place.

      # Where the app connects. Loopback: no other machine reaches it.
      listeners:
        - address: 127.0.0.1:8080

      # curl http://127.0.0.1:9901/readyz says whether there are tokens, and /metrics counts.
      admin:
        address: 127.0.0.1:9901

      # The store of tokens. The file may be shared with other programs of the MSAL family.
      cache:
        file: msal_token_cache.json

      # The application as it is registered with its identity provider.
      applications:
        app:
          authority: \(scalar(authority ?? Self.placeholder))
          client_id: \(scalar(clientID ?? "placeholder"))
          \(credential)

      # Which requests go where, with which token. \(path ?? "/")… becomes \(upstream ?? Self.placeholder)…
      routes:
        - name: \(scalar(routeName))
          path: \(scalar(path ?? "/"))
          upstream: \(scalar(upstream ?? Self.placeholder))
      \(token)

      """
  }

  private var token: String {
    // One that every kind of provider accepts, until the question is answered.
    let words = (scopes ?? ["\(Self.placeholder).default"]).map(scalar).joined(separator: ", ")
    let list = words.isEmpty ? "" : "scopes: [\(words)]"
    let (comment, subject) =
      hasSecret
      ? ("A token for the application itself (client credentials).", "application")
      : ("A token for the person who is signed in.", "account")
    return """
          application: app
          # \(comment)
          token: {as: \(subject)\(list.isEmpty ? "" : ", \(list)")\(resource.map { ", resource: \(scalar($0))" } ?? "")}
      """
  }

  /// A double-quoted YAML scalar, in which `$` begins no variable.
  private func scalar(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "$": quoted += "$$"
      case "\u{0}"..."\u{1F}", "\u{7F}": quoted += "?"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

/// True if anything has this name, a link that leads nowhere included.
func exists(_ path: String) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0
}

/// Makes a file of these bytes; one that is there stays as it is. What was written of a file that could not be finished
/// is removed.
func writeNewFile(_ path: String, mode: mode_t, _ bytes: Span<UInt8>) throws(SystemError) {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
  guard descriptor >= 0 else { throw SystemError("open") }
  var failure = bytes.withUnsafeBytes { writeAll($0, to: descriptor)?.error }
  if failure == nil, fsync(descriptor) != 0 { failure = SystemError("write") }
  close(descriptor)
  if let failure {
    unlink(path)
    throw failure
  }
}
