// Everything that the proxies of one test wrote or answered in their own name, kept until it has been searched for
// secrets.

import Glibc
import Platform

/// Secrets that must not be seen, and the places to search for them. One per test, found through the task.
package final class ProxyLedger: Sendable {
  /// The ledger of the test that runs in this task.
  @TaskLocal package static var current: ProxyLedger?

  private struct Contents: Sendable {
    var runs: [(process: ChildProcess, adminPort: Int)] = []
    var texts: [(origin: String, text: String)] = []
    var secrets: Set<String> = []
  }

  private let contents = Locked(Contents())

  /// A ledger that looks for `secrets`, and for what any token and any private key begins with.
  package init(secrets: [String]) {
    let known = (secrets + [ProxyUnderTest.controlSecret]).flatMap(Self.spellings)
    contents.withLock { $0.secrets = Set(known + ["PRIVATE KEY"]) }
  }

  /// One more secret that must not be found, in any spelling that a token request gives it.
  package func add(secret: String) { contents.withLock { $0.secrets.formUnion(Self.spellings(of: secret)) } }

  /// A text that the proxy or one of its commands wrote.
  package func add(_ text: String, from origin: String) {
    contents.withLock { $0.texts.append((origin: origin, text: text)) }
  }

  func add(_ process: ChildProcess, adminPort: Int) {
    contents.withLock { $0.runs.append((process, adminPort)) }
  }

  /// A sentence for each secret in each place. The secret itself is not repeated.
  package func findings() async throws -> [String] {
    let (runs, secrets) = contents.withLock { ($0.runs, $0.secrets) }
    for run in runs {
      let identity = "process \(run.process.identifier)"
      if run.process.poll() == nil {
        add(textOfFile("/proc/\(run.process.identifier)/cmdline"), from: "the arguments of \(identity)")
        for path in ["/metrics", "/readyz", "/status", "/status?format=json", "/config", "/config?format=json"] {
          add(try await Self.answer(run.adminPort, path), from: "\(path) of \(identity)")
        }
      }
      add(run.process.output, from: "standard output of \(identity)")
      add(run.process.errors, from: "standard error of \(identity)")
    }
    let texts = contents.withLock { $0.texts }
    return texts.flatMap { origin, text in
      let bytes = Array(text.utf8)
      let shown = secrets.filter { !Self.places(of: $0, in: bytes).isEmpty } + (Self.showsToken(bytes) ? ["eyJ"] : [])
      return shown.map { "\(origin) shows a secret that begins with '\($0.prefix(3))'" }
    }
  }

  /// Everything that an admin listener answers to a caller who may control. Not through curl: every test asks.
  private static func answer(_ port: Int, _ path: String) async throws -> String {
    // One that is ending, or whose admin listener moved, answers nothing.
    guard let connection = try? RawConnection(port: port) else { return "" }
    try await connection.send(
      "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        + "\(ProxyUnderTest.controlField): \(ProxyUnderTest.controlSecret)\r\n\r\n")
    return try await connection.receive()
  }

  /// The places of `text` in `bytes`. The C library searches: code of a debug build takes a hundred times as long.
  private static func places(of text: String, in bytes: [UInt8]) -> [Int] {
    let sought = Array(text.utf8)
    return bytes.withUnsafeBytes { all in
      guard let base = all.baseAddress, let first = sought.first else { return [] }
      var (places, next) = ([Int](), 0)
      while next + sought.count <= all.count,
        let found = memchr(base + next, Int32(first), all.count - next - sought.count + 1)
      {
        next = UnsafeRawPointer(found) - base + 1
        if memcmp(found, sought, sought.count) == 0 { places.append(next - 1) }
      }
      return places
    }
  }

  /// True if a word begins as every JWT does: `{"` in base64url. Within a word a random state may have these three
  /// letters by chance, once in some thousand. Forms write a space as %20 and a plus as %2B.
  private static func showsToken(_ bytes: [UInt8]) -> Bool {
    places(of: "eyJ", in: bytes).contains { place in
      let before = bytes[..<place]
      guard let last = before.last.map({ Character(UnicodeScalar($0)) }) else { return true }
      let isInWord = last.isASCII && (last.isLetter || last.isNumber || last == "-" || last == "_")
      return !isInWord || ["%20", "%2B"].contains(String(decoding: before.suffix(3), as: UTF8.self))
    }
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
