// A running proxy with sign-in pages, the sample provider and APIs, and a browser that is curl and a person at the
// provider.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

/// The sample provider and APIs, and a proxy whose listener has sign-in pages.
struct SignInStage {
  let demo: DemoScene
  let proxy: ProxyUnderTest
  var directory: TemporaryDirectory { demo.directory }
  var settings: DemoSettings { demo.settings }
  var services: DemoServices { demo.services }
  /// The browsers' address of the listener with pages.
  let origin: String

  private let account: String?
  /// Additional arguments of each of the browser's requests.
  private let manner: [String]

  /// A listener with pages, as a test wants it.
  struct Listener {
    /// The address, if it is not a port of 127.0.0.1.
    var address: String?
    var signIn = "true"
    /// Further keys in flow style, each behind a comma.
    var more = ""
    /// Its origin for browsers, if not by its own port.
    var origin: String?
    var scheme = "http"
    /// Additional arguments of each of the browser's requests.
    var manner: [String] = []
  }

  init(account: String? = DemoDirectory.Sample.alice, signIn: String = "true") async throws {
    try await self.init(account: account, Listener(signIn: signIn))
  }

  init(account: String? = DemoDirectory.Sample.alice, _ listener: Listener) async throws {
    manner = listener.manner
    demo = try DemoScene()
    self.account = account
    let listeners = """
      listeners:
        - {address: "\(listener.address ?? "127.0.0.1:PORT")", sign_in: \(listener.signIn)\(listener.more)}
        - {address: "127.0.0.1:PORT2", sign_in: true}

      """
    proxy = try await ProxyUnderTest(in: demo.directory, listeners + Self.rest(account: account, demo))
    origin = listener.origin ?? "\(listener.scheme)://localhost:\(proxy.port)"
  }

  /// Another process with the same cache file.
  func anotherInstance() async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      in: directory, place: { try $0.write($1, to: "another.yaml") }, Self.rest(account: account, demo))
  }

  private static func rest(account: String?, _ demo: DemoScene) -> String {
    let services = demo.services
    let named = account.map { "account: \($0), " } ?? ""
    return """
      cache: {file: cache.json}
      applications:
        desk: \(demo.application(DemoDirectory.Sample.desk, ", client_capabilities: [cp1]"))
      defaults: {\(demo.tls)}
      routes:
        - name: my-orders
          path: /my/orders/
          upstream: \(services.apiOrigin)/api/
          application: desk
          token: {\(named)scopes: ["api://orders/Orders.Read"], scopes_on_challenge: ["api://orders/Orders.Write"]}
        - name: bobs-orders
          path: /bobs/orders/
          upstream: \(services.apiOrigin)/api/
          application: desk
          token: {account: \(DemoDirectory.Sample.bob), scopes: ["api://orders/Orders.Read"], on_interaction_required: \
      redirect}
        - {name: open, path: /open/, upstream: "\(services.apiOrigin)/api/", token: none}

      """
  }

  /// Another listener of the same proxy.
  var otherOrigin: String { "http://localhost:\(proxy.ports[1])" }

  /// A browser's request to the proxy: its cookies are kept.
  func browse(_ path: String, _ arguments: [String] = [], origin: String? = nil, jar: String = "jar") async throws
    -> Answer
  {
    try await EndToEndTests.browse((origin ?? self.origin) + path, manner + arguments, jar: directory.file(jar))
  }

  /// Posts the form of a page, changed as told.
  func press(_ page: Answer, _ change: [String: String] = [:], _ arguments: [String] = [], jar: String = "jar")
    async throws -> Answer
  {
    try await browse("/.bearer/sign-in", form(of: page, change) + arguments, jar: jar)
  }

  /// Signs in at the provider; the path and query that the browser is sent back to.
  func atTheProvider(_ begun: Answer, user: String = DemoDirectory.Sample.alice, declines: Bool = false) async throws
    -> String
  {
    let address = try #require(begun["location"], "\(begun.status) \(begun.body)")
    let person = SigningInPerson(
      user: user, trust: settings.authorityPath, declines: declines, jar: directory.file("provider-\(user)"))
    let end = try await ProviderEnd(of: person, at: address)
    #expect(end.target == "\(origin)/.bearer/callback")
    return "/.bearer/callback?\(end.query)"
  }

  /// True if anything was filed.
  var hasWritten: Bool {
    !directory.read("cache.json").isEmpty && directory.read("cache.json").contains("RefreshToken")
      && directory.read("cache.json").contains("secret")
  }

  /// Signs a person in through the pages.
  func signIn(_ link: String = SignInStage.link, user: String = DemoDirectory.Sample.alice) async throws -> Answer {
    try await browse(atTheProvider(press(browse(link)), user: user))
  }

  /// The content of the file of tokens, and of the one with the requirements of sign-ins.
  var everythingKept: String { directory.read("cache.json") + directory.read("cache.json.challenges") }

  /// The link of the page that refuses `/my/orders/list?a=1&b=2`.
  static let link = "/.bearer/sign-in?route=my-orders&return=%2Fmy%2Forders%2Flist%3Fa%3D1%26b%3D2"
}

/// A browser's request; its cookies are in a file.
func browse(_ url: String, _ arguments: [String] = [], jar: String) async throws -> Answer {
  try await curl(["-b", jar, "-c", jar] + arguments + [url])
}

/// The form of a page, changed as told, as arguments of curl's.
func form(
  of page: Answer, _ change: [String: String] = [:], fields: [String] = ["route", "return", "ask", "seal"]
) -> [String] {
  let own = fields.compactMap { field in
    page.body.between("name=\"\(field)\" value=\"", "\"").map { (field, $0.replacing("&amp;", with: "&")) }
  }
  return Dictionary(uniqueKeysWithValues: own).merging(change) { $1 }
    .flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] }
}

/// Where a provider sends a person who has signed in.
struct ProviderEnd: Decodable {
  var target: String
  var parameters: [String: String]
  var query: String { parameters.map { "\($0.key)=\(encoded($0.value))" }.joined(separator: "&") }

  init(of person: SigningInPerson, at address: String) async throws {
    self = try JSONDecoder().decode(Self.self, from: Data(try await person.answer(to: address).utf8))
  }
}

extension Answer {
  /// A page's heading.
  var heading: String? { body.between("<h1>", "</h1>") }
}

/// A value for a query.
func encoded(_ value: String) -> String {
  var text = ""
  for byte in value.utf8 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39:
      text.unicodeScalars.append(UnicodeScalar(byte))
    default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }
  return text
}
