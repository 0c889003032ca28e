// Owns the tour: which commands it runs, in which order, and what each must come to.

import DemoProvider
import FoundationEssentials

/// A walk through what the proxy does, with real commands and their real output.
struct Tour {
  let terminal: Terminal
  let places: DemoPlaces
  let services: DemoServices
  let trustPath: String
  let proxyPath: String
  let log: ExchangeLog
  /// Ends the proxy and starts it again; whether it became ready.
  let restart: () throws(SpawnError) -> Bool
  private var records: AccessRecords
  private(set) var steps = 0
  private(set) var failures = 0

  init(
    _ terminal: Terminal, _ places: DemoPlaces, _ services: DemoServices, trustPath: String, proxyPath: String,
    log: ExchangeLog, restart: @escaping () throws(SpawnError) -> Bool
  ) {
    self.restart = restart
    self.terminal = terminal
    self.places = places
    self.services = services
    self.trustPath = trustPath
    self.proxyPath = proxyPath
    self.log = log
    records = AccessRecords(path: places.logPath)
  }

  /// Runs every step, also after one that failed.
  mutating func walk() throws(SpawnError) {
    try withoutProxy()
    let first = try firstCall()
    try secondCall(first)
    try streamedAnswer()
    try upload()
    try missingPermission()
    try foreignPage()
    try tokenCommand()
    try readiness()
    try people()
  }

  private mutating func withoutProxy() throws(SpawnError) {
    begin("Without the proxy, the API refuses a call that brings no token.")
    let answer = try run(["curl", "-sSi", "--cacert", trustPath, "\(services.apiOrigin)/api/me"])
    expect(
      answer.httpStatus == 401 && answer.field("www-authenticate")?.hasPrefix("Bearer ") == true,
      "401, and a challenge that asks for a bearer token")
  }

  private mutating func firstCall() throws(SpawnError) -> Seen? {
    begin("Through the proxy, the same call succeeds. The app sends no credentials and knows of none.")
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/orders/me"])
    let seen = Seen(answer.body)
    expect(
      answer.httpStatus == 200 && seen?.caller?.application == DemoDirectory.Sample.portal,
      "200, and the API saw the application orders-portal with its roles")
    return seen
  }

  private mutating func secondCall(_ first: Seen?) throws(SpawnError) {
    begin("The second call takes its token from the cache. The identity provider is not asked again.")
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/orders/list"])
    let identifier = Seen(answer.body)?.token.identifier
    expect(
      answer.httpStatus == 200 && identifier != nil && identifier == first?.token.identifier
        && lastRecord?.token_source == "cache" && !lastExchanges.contains { $0.service == "provider" },
      "200 with the very token of the first call, from the cache; the provider saw nothing")
  }

  private mutating func streamedAnswer() throws(SpawnError) {
    begin("Answers stream: each event arrives when the API sends it, not when the answer is complete.")
    let answer = try run(
      ["curl", "-sSN", "\(places.proxyOrigin)/orders/ticks?count=4&pause_ms=300"], showsArrivals: true)
    let ticks = answer.text.split(separator: "\n").count { $0.hasPrefix("data: ") }
    let spread = (answer.arrivals.last ?? .zero) - (answer.arrivals.first ?? .zero)
    expect(ticks == 4 && spread >= .milliseconds(600), "4 events, spread over \(milliseconds(spread)) ms")
  }

  private mutating func upload() throws(SpawnError) {
    begin("Bodies go up the same way. The API answers with what arrived.")
    let answer = try run(
      ["curl", "-sSi", "--data-binary", "@\(places.configurationPath)", "\(places.proxyOrigin)/orders/uploads"])
    let size = FileManager.default.contents(atPath: places.configurationPath)?.count ?? -1
    expect(
      answer.httpStatus == 200 && answer.body.contains("\"bytes\" : \(size)"), "200, and all \(size) bytes arrived")
  }

  private mutating func missingPermission() throws(SpawnError) {
    begin("What the application was not granted stays forbidden: the API's own answer comes back untouched.")
    let answer = try run(["curl", "-sSi", "-X", "POST", "\(places.proxyOrigin)/orders/approvals"])
    expect(
      answer.httpStatus == 403 && answer.field("www-authenticate")?.contains("insufficient_scope") == true,
      "403 insufficient_scope, from the API")
  }

  private mutating func foreignPage() throws(SpawnError) {
    begin("A web page in a browser on this machine cannot borrow the token.")
    let answer = try run([
      "curl", "-sSi", "-H", "Origin: https://evil.example", "-H", "Sec-Fetch-Site: cross-site",
      "\(places.proxyOrigin)/orders/me",
    ])
    expect(
      (400..<500).contains(answer.httpStatus) && lastExchanges.isEmpty,
      "\(answer.httpStatus), from the proxy: neither the API nor the provider saw anything")
  }

  private mutating func tokenCommand() throws(SpawnError) {
    begin("The same decision from the command line, without the token itself.")
    let answer = try run([proxyPath, "token", "-c", places.configurationPath, "--route", "orders", "--json"])
    expect(
      answer.status == 0 && answer.text.contains("expires") && !answer.text.contains("eyJ"),
      "exit status 0, and no token in sight")
  }

  private mutating func readiness() throws(SpawnError) {
    begin("Health and metrics stand on a listener of their own.")
    let answer = try run(["curl", "-sSi", "\(places.adminOrigin)/readyz"])
    expect(answer.httpStatus == 200, "200, every route has what it needs")
  }

  // MARK: Showing

  private(set) var lastExchanges: [DemoExchange] = []
  /// What the proxy logged of the last command, where it was one of the proxy's.
  private(set) var lastRecord: AccessRecord?

  mutating func begin(_ text: String) {
    steps += 1
    terminal.line()
    terminal.line("\(steps). \(text)", .heading)
  }

  /// Runs a command and shows it, what the services saw of it, and what it printed.
  mutating func run(_ words: [String], showsArrivals: Bool = false) throws(SpawnError) -> CommandRun {
    terminal.line()
    terminal.line("  $ " + words.map(quoted).joined(separator: " "), .command)
    _ = log.take()
    let run = try CommandRun.run(words) { text, since in
      guard showsArrivals else { return }
      let stamp = "after \(milliseconds(since)) ms".padded(16)
      let events = text.split(separator: "\n").filter { $0.hasPrefix("data: ") }
      for event in events { terminal.indented("\(stamp)\(event)") }
    }
    lastExchanges = log.take()
    for exchange in lastExchanges { terminal.indented(ExchangeLog.text(exchange), .quiet) }
    lastRecord = words.contains { $0.hasPrefix(places.proxyOrigin) } ? records.next() : nil
    if let lastRecord { terminal.indented(lastRecord.text, .quiet) }
    if !showsArrivals { terminal.indented(run.text.replacing("\r\n", with: "\n").trimmed) }
    return run
  }

  mutating func expect(_ holds: Bool, _ text: String) {
    if holds {
      terminal.line("  ✓ \(text)", .good)
    } else {
      failures += 1
      terminal.line("  ✗ expected: \(text)", .bad)
    }
  }
}

/// What of the API's report the tour looks at.
struct Seen: Decodable {
  struct Caller: Decodable {
    var application: String?
    var user: String?
    var scopes: [String]?
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
}

/// A word as a shell would want it typed.
func quoted(_ word: String) -> String {
  let plain = word.utf8.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39: true
    default: "-._/:@=,+%".utf8.contains(byte)
    }
  }
  return plain && !word.isEmpty ? word : "'\(word.replacing("'", with: "'\\''"))'"
}

private func milliseconds(_ duration: Duration) -> Int64 {
  duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
}

extension String {
  /// The text without line ends behind it.
  var trimmed: Substring {
    self[..<(lastIndex { !$0.isNewline }.map { index(after: $0) } ?? startIndex)]
  }
}
