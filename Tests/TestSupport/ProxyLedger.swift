// Everything that the proxies of one test wrote or answered in their own name, kept until it has been searched for
// secrets.

import Platform

/// Secrets that must not be seen, and the places to search for them. One per test, found through the task.
package final class ProxyLedger: Sendable {
  /// The ledger of the test that runs in this task.
  @TaskLocal package static var current: ProxyLedger?

  private struct Run: Sendable {
    let process: ChildProcess
    let adminPort: Int
    /// Holds the files of the process's output.
    let directory: TemporaryDirectory
  }

  private struct Contents: Sendable {
    var runs: [Run] = []
    var texts: [(origin: String, text: String)] = []
    var secrets: Set<String> = []
  }

  private let contents = Locked(Contents())

  /// A ledger that looks for `secrets`, and for what any token and any private key begins with.
  package init(secrets: [String]) {
    let known = (secrets + [ProxyUnderTest.controlSecret]).flatMap(Self.spellings)
    contents.withLock { $0.secrets = Set(known + ["PRIVATE KEY"]) }
  }

  /// One more secret that nobody may find, in any spelling that a token request gives it.
  package func add(secret: String) { contents.withLock { $0.secrets.formUnion(Self.spellings(of: secret)) } }

  /// A text that the proxy or one of its commands wrote.
  package func add(_ text: String, from origin: String) {
    contents.withLock { $0.texts.append((origin: origin, text: text)) }
  }

  func add(_ process: ChildProcess, adminPort: Int, in directory: TemporaryDirectory) {
    contents.withLock { $0.runs.append(Run(process: process, adminPort: adminPort, directory: directory)) }
  }

  /// A sentence for each secret in each place. The secret itself is not repeated.
  package func findings() async throws -> [String] {
    let (runs, secrets) = contents.withLock { ($0.runs, $0.secrets) }
    for run in runs {
      let identity = "process \(run.process.identifier)"
      if run.process.poll() == nil {
        add(textOfFile("/proc/\(run.process.identifier)/cmdline"), from: "the arguments of \(identity)")
        for path in ["/metrics", "/readyz", "/status", "/status?format=json", "/config", "/config?format=json"] {
          // One that is ending, or whose admin listener moved, answers nothing.
          let control = "\(ProxyUnderTest.controlField): \(ProxyUnderTest.controlSecret)"
          let answer = try await curl(["-H", control, "http://127.0.0.1:\(run.adminPort)\(path)"])
          add(answer.body, from: "\(path) of \(identity)")
        }
      }
      add(run.process.output, from: "standard output of \(identity)")
      add(run.process.errors, from: "standard error of \(identity)")
    }
    let texts = contents.withLock { $0.texts }
    return texts.flatMap { origin, text in
      let shown = secrets.filter { text.contains($0) } + (Self.showsToken(text) ? ["eyJ"] : [])
      return shown.map { "\(origin) shows a secret that begins with '\($0.prefix(3))'" }
    }
  }

  /// True if a word begins as every JWT does: `{"` in base64url. Within a word a random state may have these three
  /// letters by chance, once in some thousand.
  private static func showsToken(_ text: String) -> Bool {
    text.replacing("%20", with: " ").replacing("%2B", with: "+").split { character in
      !character.isASCII || !(character.isLetter || character.isNumber || character == "-" || character == "_")
    }.contains { $0.hasPrefix("eyJ") }
  }

  /// A secret unchanged, and as forms and JSON write it.
  private static func spellings(of secret: String) -> [String] {
    let escaped = secret.utf8.map { byte -> String in
      let character = Character(UnicodeScalar(byte))
      let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || "-._~*".contains(character))
      return isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return [secret, escaped.joined(), secret.replacing("/", with: "\\/")]
  }
}
