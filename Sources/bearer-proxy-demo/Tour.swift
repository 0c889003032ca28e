// The tour: which commands it runs, in which order, what each must come to, and how that is shown.

import Bytes
import DemoProvider
import FoundationEssentials
import Platform

/// A walk through what the proxy does, with real commands and their real output.
struct Tour {
  let terminal: Terminal
  let places: DemoPlaces
  let services: DemoServices
  let log: ExchangeLog
  /// Ends the proxy and starts it again; whether it became ready.
  let restart: () throws(SpawnError) -> Bool
  private var records = AccessRecords(path: DemoPlaces.log)
  private var part = 0
  private(set) var steps = 0
  private(set) var failures = 0
  /// Whether the next part waits for Enter.
  private(set) var waitsForReader: Bool

  private static let parts = 9

  init(
    _ terminal: Terminal, _ places: DemoPlaces, _ services: DemoServices, log: ExchangeLog,
    restart: @escaping () throws(SpawnError) -> Bool
  ) {
    self.restart = restart
    self.terminal = terminal
    self.places = places
    self.services = services
    self.log = log
    waitsForReader = terminal.waitsForReader
  }

  /// Runs every step, also after one that failed.
  mutating func walk() throws(SpawnError) {
    beginPart("A token for an application")
    try withoutProxy()
    let first = try firstCall()
    try secondCall(first)
    beginPart("Without a secret")
    try withoutSecret(
      "nightly", DemoDirectory.Sample.nightly,
      "A certificate proves an application as well: its key signs, and nothing secret is sent.")
    try withoutSecret(
      "machine", DemoDirectory.Sample.machine,
      "A machine with an identity keeps nothing: its own service hands out the token.")
    beginPart("What passes through")
    try streamedAnswer()
    try upload()
    try missingPermission()
    beginPart("What does not, and what operators see")
    try foreignPage()
    try tokenCommand()
    try readiness()
    try people()
  }

  private mutating func withoutProxy() throws(SpawnError) {
    begin("Without the proxy, the API refuses a call that has no token.")
    let answer = try run(
      ["curl", "-sSi", "--cacert", DemoPlaces.authority, "\(services.apiOrigin)/api/me"], brief: \.challenge)
    expect(
      answer.httpStatus == 401 && answer.field("www-authenticate")?.hasPrefix("Bearer ") == true,
      "401, and a challenge that asks for a bearer token")
  }

  private mutating func firstCall() throws(SpawnError) -> Seen? {
    begin("Through the proxy the same call succeeds. The program that calls has no credentials.")
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/orders/me"], brief: \.caller)
    let seen = Seen(answer.body)
    expect(
      answer.httpStatus == 200 && seen?.caller?.application == DemoDirectory.Sample.portal,
      "200, and the API saw the application Orders portal with its roles")
    return seen
  }

  private mutating func secondCall(_ first: Seen?) throws(SpawnError) {
    begin("The next call has the same token, from memory. The provider is not asked.")
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/orders/list"], brief: \.caller)
    let identifier = Seen(answer.body)?.token.identifier
    expect(
      answer.httpStatus == 200 && identifier != nil && identifier == first?.token.identifier
        && lastRecord?.token_source == "cache" && !lastExchanges.contains { $0.service == "provider" },
      "200 with the token of the first call; the provider saw nothing")
  }

  private mutating func withoutSecret(_ route: String, _ application: String, _ text: String) throws(SpawnError) {
    begin(text)
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/\(route)/me"], brief: \.caller)
    expect(
      answer.httpStatus == 200 && Seen(answer.body)?.caller?.application == application,
      "200, and the API saw the application \(route)")
  }

  private mutating func streamedAnswer() throws(SpawnError) {
    begin("Responses stream: each event arrives when the API sends it.")
    let answer = try run(
      ["curl", "-sSN", "\(places.proxyOrigin)/orders/ticks?count=4&pause_ms=300"], brief: { _ in [] },
      showsArrivals: true)
    let ticks = answer.text.split(separator: "\n").count { $0.hasPrefix("data: ") }
    let spread = (answer.arrivals.last ?? .zero) - (answer.arrivals.first ?? .zero)
    expect(ticks == 4 && spread >= .milliseconds(600), "4 events, spread over \(milliseconds(spread)) ms")
  }

  private mutating func upload() throws(SpawnError) {
    begin("Bodies go up the same way. The API responds with what arrived.")
    let size = FileManager.default.contents(atPath: DemoPlaces.configuration)?.count ?? -1
    let answer = try run(
      ["curl", "-sSi", "--data-binary", "@\(DemoPlaces.configuration)", "\(places.proxyOrigin)/orders/uploads"],
      brief: \.received)
    expect(
      answer.httpStatus == 200 && answer.body.contains("\"bytes\" : \(size)"), "200, and all \(size) bytes arrived")
  }

  private mutating func missingPermission() throws(SpawnError) {
    begin("What was not granted stays forbidden: the API's own response comes back.")
    let answer = try run(
      ["curl", "-sSi", "-X", "POST", "\(places.proxyOrigin)/orders/approvals"], brief: \.challenge)
    expect(
      answer.httpStatus == 403 && answer.field("www-authenticate")?.contains("insufficient_scope") == true,
      "403 insufficient_scope, from the API")
  }

  private mutating func foreignPage() throws(SpawnError) {
    begin("Another site's web page, in a browser on this machine, cannot use the token.")
    let answer = try run(
      [
        "curl", "-sSi", "-H", "Origin: https://evil.example", "-H", "Sec-Fetch-Site: cross-site",
        "\(places.proxyOrigin)/orders/me",
      ], brief: \.problem)
    expect(
      (400..<500).contains(answer.httpStatus) && lastExchanges.isEmpty,
      "\(answer.httpStatus), from the proxy: neither the API nor the provider saw anything")
  }

  private mutating func tokenCommand() throws(SpawnError) {
    begin("The same token on the command line, which does not show it.")
    let answer = try run([DemoPlaces.program, "token", "-c", DemoPlaces.configuration, "--route", "orders", "--json"]) {
      [$0.text]
    }
    expect(
      answer.status == 0 && answer.text.contains("expires") && !answer.text.contains("eyJ"),
      "exit status 0, and no token is shown")
  }

  private mutating func readiness() throws(SpawnError) {
    begin("Health and metrics have a listener of their own. No person is signed in yet.")
    let answer = try run(["curl", "-sSi", "\(places.adminOrigin)/readyz"]) { [$0.statusText, $0.body] }
    expect(answer.httpStatus == 200, "200: the proxy serves; a person's routes wait for a sign-in (next part)")
  }

  // MARK: Showing

  private(set) var lastExchanges: [DemoExchange] = []
  /// What the proxy logged of the last command, where it was one of the proxy's.
  private(set) var lastRecord: AccessRecord?

  /// Begins a part, which fits a screen.
  mutating func beginPart(_ title: String) {
    if waitsForReader { waitsForReader = terminal.askForNext() }
    part += 1
    terminal.line()
    terminal.line("\(title) (\(part) of \(Self.parts))", .title)
  }

  mutating func begin(_ text: String) {
    steps += 1
    terminal.line()
    terminal.wrapped(text, after: "\(steps). ".padded(4), .heading)
  }

  /// Runs a command and shows it, what the services saw of it, and what it printed: with --verbose all of it, otherwise
  /// the lines that `brief` takes from it.
  mutating func run(
    _ words: [String], brief: (CommandRun) -> [String], showsArrivals: Bool = false, showsExchanges: Bool = true
  ) throws(SpawnError) -> CommandRun {
    if terminal.isVerbose { terminal.line() }
    terminal.command(words)
    _ = log.take()
    let run = try CommandRun.run(words) { text, since in
      guard showsArrivals else { return }
      let stamp = "after \(milliseconds(since)) ms".padded(16)
      let events = text.split(separator: "\n").filter { $0.hasPrefix("data: ") }
      for event in events { terminal.indented("\(stamp)\(event)") }
    }
    lastExchanges = log.take()
    lastRecord = words.contains { $0.hasPrefix(places.proxyOrigin) } ? records.next(status: run.httpStatus) : nil
    guard !terminal.isVerbose else {
      for exchange in lastExchanges { terminal.indented(exchange.line, .quiet) }
      if let lastRecord { terminal.indented(lastRecord.line, .quiet) }
      if !showsArrivals { terminal.indented(run.text.replacing("\r\n", with: "\n").trimmed) }
      return run
    }
    let width = Terminal.columns - 4
    for text in brief(run) {
      for line in text.trimmed.split(separator: "\n") { terminal.indented(String(line).shortened(to: width)) }
    }
    let seen = lastExchanges.map(\.words) + (lastRecord.map { [$0.words] } ?? [])
    if showsExchanges, !seen.isEmpty { terminal.wrapped(seen.joined(separator: " · "), after: "    ", .quiet) }
    return run
  }

  mutating func expect(_ holds: Bool, _ text: String) {
    if !holds { failures += 1 }
    terminal.wrapped(text, after: holds ? "  ✓ " : "  ✗ expected: ", holds ? .good : .bad)
  }
}

extension CommandRun {
  /// The status of an answer printed by `curl -i`, in numbers and words.
  var statusText: String { String(text.prefix { !$0.isNewline }.drop { $0 != " " }.dropFirst()) }

  private func status(with text: String?) -> [String] { ["\(statusText)\(text.map { " · \($0)" } ?? "")"] }

  /// An answer's status, and the challenge with it, without the address for signing in.
  var challenge: [String] {
    let text = field("www-authenticate")?.replacing(/\ realm=.*authorization_uri="[^"]*",?/, with: " …")
    return status(with: text.map { "WWW-Authenticate: \($0)" })
  }

  /// An answer's status, and what the sample API saw of its caller.
  var caller: [String] { status(with: Seen(body).map { "API saw \($0.words)" }) }

  /// An answer's status, and the sentence that the proxy says with it.
  var problem: [String] { status(with: body.between("\"detail\":\"", "\"")) }

  /// An answer's status, and how much arrived at the API.
  var received: [String] { status(with: body.between("\"bytes\" : ", ",").map { "API saw \($0) bytes" }) }
}

/// What of the API's report the tour looks at.
struct Seen: Decodable {
  struct Caller: Decodable {
    var application: String?
    var user: String?
    var scopes: [String]?
    var roles: [String]?
  }

  struct Token: Decodable {
    var identifier: String?
  }

  var caller: Caller?
  var token: Token

  init?(_ json: String) {
    do {
      self = try JSONDecoder().decode(Seen.self, from: Data(json.utf8))
    } catch {
      return nil
    }
  }

  /// The caller, its rights, and the beginning of the token's identifier.
  var words: String {
    let name = caller?.user ?? (caller?.application == DemoDirectory.Sample.portal ? "Orders portal" : "a caller")
    let rights = (caller?.scopes ?? caller?.roles ?? []).joined(separator: ", ")
    return "\(name) with \(rights); token \(token.identifier?.prefix(6) ?? "")…"
  }
}

private func milliseconds(_ duration: Duration) -> Int64 {
  duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
}
