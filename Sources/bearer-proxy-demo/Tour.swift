// The runner of the tour: it carries out the calls of `Tour+Steps.swift`, compares, and shows both.

import Bytes
import DemoProvider
import FoundationEssentials
import Platform

/// A step: calls, and what they must come to.
struct Step {
  /// The title of the part that begins with it.
  var part: String?
  var text: String
  var calls: [Call]
  var expected: [Expectation]
  /// The sentence for it.
  var result: String
}

enum Call {
  /// One response by curl, with these words.
  case request([String])
  /// The same, repeated until the response has this status; the last one is shown.
  case requestUntil(Int, [String])
  /// An event stream by curl.
  case events(String)
  /// A command of bearer-proxy.
  case program([String])
  /// `login` with a device code, whose pages a person fills in.
  case login([String], at: String, [[String]])
  /// Pages from this address on, which a person fills in. `CODE` is the one-time code of the page.
  case pages(String, [[String]])
  /// The proxy ends, and starts again.
  case restart
}

/// A property of a step's calls. Without another word, it is about the last one.
enum Expectation {
  case status(Int)
  case challenge(String)
  case output(String)
  /// Exit status 0, and no token in the output, of all.
  case success
  /// The exact exchanges of the provider and the API.
  case seen([String])
  /// A token from memory.
  case cached
  /// The application that the API saw.
  case application(String)
  /// The person that the API saw, and her scopes.
  case person(String, [String])
  /// The token that the API saw is that of an earlier step, or another one.
  case token(of: Int), otherToken(than: Int)
  /// Events, not all at once.
  case events(Int, over: Duration)
  /// A text in each page of all calls.
  case pages([String])
  /// The last page's address.
  case end(String)
  /// The provider's notes about the tokens that it issued.
  case tokens([String])
}

/// A walk through the proxy's features, with real commands and their real output.
struct Tour {
  let terminal: Terminal
  let places: DemoPlaces
  let log: ExchangeLog
  /// Ends the proxy and starts it again; throws if it is not ready then.
  let restart: () throws(DemonstrationError) -> Void
  private(set) var steps = 0
  private(set) var failures = 0
  /// True if the next part waits for Enter.
  private(set) var waitsForReader: Bool

  private var records = AccessRecords()
  private var runs: [CommandRun] = []
  private var exchanges: [DemoExchange] = []
  private var record: AccessRecord?
  private var pages: [String] = []
  private var address = ""
  /// The identifier of the token of each step.
  private var tokens: [Int: String] = [:]

  init(
    _ terminal: Terminal, _ places: DemoPlaces, _ log: ExchangeLog,
    restart: @escaping () throws(DemonstrationError) -> Void
  ) {
    (self.terminal, self.places, self.log, self.restart) = (terminal, places, log, restart)
    waitsForReader = terminal.waitsForReader
  }

  /// Carries out every step, also after one that failed.
  mutating func walk() throws(DemonstrationError) {
    let steps = Self.steps(places)
    var part = 0
    for step in steps {
      if let title = step.part {
        part += 1
        if waitsForReader { waitsForReader = terminal.askForNext() }
        terminal.line("\n\(title) (\(part) of \(steps.count { $0.part != nil }))", .title)
      }
      try carryOut(step)
    }
  }

  private mutating func carryOut(_ step: Step) throws(DemonstrationError) {
    steps += 1
    (runs, pages) = ([], [])
    terminal.line()
    terminal.wrapped(step.text, after: "\(steps). ".padded(4), .heading)
    for call in step.calls {
      if terminal.isVerbose { terminal.line() }
      _ = log.take()
      try carryOut(call)
    }
    tokens[steps] = Seen(run.body)?.token.identifier
    let missed = step.expected.first { !holds($0) }
    if let missed {
      failures += 1
      terminal.wrapped("\(step.result) (\(missed))", after: "  ✗ expected: ", .bad)
    } else {
      terminal.wrapped(step.result, after: "  ✓ ", .good)
    }
  }

  private mutating func carryOut(_ call: Call) throws(DemonstrationError) {
    switch call {
    case .request(let words), .requestUntil(_, let words):
      let words = ["curl", "-sSi"] + words
      if case .requestUntil(let status, _) = call {
        let deadline = MonotonicTime.now + .seconds(10)
        while try CommandRun.run(words).httpStatus != status, MonotonicTime.now < deadline {}
        _ = log.take()
      }
      terminal.command(words)
      runs.append(try CommandRun.run(words))
      showRun(brief: run.brief)
    case .events(let address):
      let words = ["curl", "-sSN", address]
      terminal.command(words)
      let run = try CommandRun.run(words) { [terminal] text, time in
        for event in text.split(separator: "\n") where event.hasPrefix("data: ") {
          terminal.indented("after \(Int(time / .milliseconds(1))) ms".padded(16) + event)
        }
      }
      runs.append(run)
      showRun(brief: nil)
    case .program(let words):
      terminal.command([DemoPlaces.program] + words)
      runs.append(try CommandRun.run([DemoPlaces.program] + words))
      showRun(brief: run.text)
    case .login(let words, let address, let answers): try login([DemoPlaces.program] + words, address, answers)
    case .pages(let address, let answers):
      if !terminal.isVerbose { terminal.indented("her browser: \(address.prefix { $0 != "&" })") }
      try browse(address, answers)
      if !terminal.isVerbose {
        terminal.wrapped(
          "her pages: \(headings) · back at \(self.address.dropFirst(places.pagesOrigin.count))", after: "    ")
      }
    case .restart:
      terminal.command([DemoPlaces.program, "run", "-c", "proxy.yaml"])
      try restart()
    }
  }

  private mutating func login(
    _ words: [String], _ address: String, _ answers: [[String]]
  ) throws(DemonstrationError) {
    terminal.command(words)
    var printed = ""
    var code: String?
    var failure: DemonstrationError?
    let run = try CommandRun.run(words) { piece, _ in
      if terminal.isVerbose { terminal.indented(piece.trimmed) }
      printed += piece
      guard code == nil, let found = printed.firstMatch(of: /\b[B-Z]{4}-[B-Z]{4}\b/) else { return }
      code = String(found.0)
      if !terminal.isVerbose { terminal.indented("code \(found.0), typed at \(address)") }
      do throws(DemonstrationError) {
        try browse(address, [["user_code=\(found.0)"]] + answers)
      } catch {
        failure = error
      }
    }
    runs.append(run)
    if let failure { throw failure }
    // The command asks again while the person fills in the pages.
    exchanges = log.take().filter { $0.status != 400 }
    if terminal.isVerbose {
      for exchange in exchanges { terminal.indented(exchange.line, .quiet) }
    } else {
      terminal.wrapped("her pages: \(headings)", after: "    ")
      for line in run.text.split(separator: "\n") where line.contains("is signed in") {
        terminal.indented(line.drop { $0 == " " })
      }
    }
  }

  /// Fills in one page after the other, with curl as her browser.
  private mutating func browse(_ start: String, _ answers: [[String]]) throws(DemonstrationError) {
    address = start
    var form: [String] = []
    for index in 0...answers.count {
      let words =
        ["curl", "-sSL", "--cacert", DemoPlaces.authority, "-c", DemoPlaces.cookies, "-b", DemoPlaces.cookies]
        + form.flatMap { ["--data-urlencode", $0] } + [address]
      let text = try CommandRun.run(words + ["-w", "\n%{url_effective}"]).text
      address = text.split(separator: "\n").last.map(String.init) ?? ""
      let page = text.between("<form method=\"post\"", "</form>") ?? ""
      pages.append(text)
      if terminal.isVerbose {
        terminal.command(words)
        terminal.indented("page: \(text.between("<h1>", "</h1>") ?? "?") at \(address.prefix { $0 != "?" })", .quiet)
      }
      if index == answers.count { return }
      let code = text.between("the code is ", "<") ?? ""
      form = answers[index].map { $0.replacing("CODE", with: code) }
      for hidden in page.matches(of: /type="hidden" name="([^"]*)" value="([^"]*)"/) {
        form.append("\(hidden.1)=\(hidden.2)")
      }
      let origin = address.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).prefix(2)
      let host = address.dropFirst(origin.joined(separator: "/").count + 1).prefix { $0 != "/" }
      address = "\(origin.joined(separator: "/"))/\(host)\(page.between("action=\"", "\"") ?? "/")"
    }
  }

  private var run: CommandRun { runs.last ?? CommandRun() }

  private var headings: String { pages.compactMap { $0.between("<h1>", "</h1>") }.joined(separator: " · ") }

  /// Shows a call's output, and what the services and the proxy report of it: with --verbose all of it, otherwise
  /// `brief` and a line for the rest. No brief: its output is shown already.
  private mutating func showRun(brief: String?) {
    exchanges = log.take()
    record = run.text.hasPrefix("HTTP/") || brief == nil ? records.next(status: run.httpStatus) : nil
    guard !terminal.isVerbose else {
      for exchange in exchanges { terminal.indented(exchange.line, .quiet) }
      if let record { terminal.indented(record.line, .quiet) }
      if brief != nil { terminal.indented(run.text.replacing("\r\n", with: "\n").trimmed) }
      return
    }
    for line in (brief ?? "").trimmed.split(separator: "\n") {
      terminal.indented(String(line).shortened(to: Terminal.columns - 4))
    }
    let tokens = exchanges.filter(\.isToken)
    if tokens.count > 1 {
      for (number, token) in tokens.enumerated() { terminal.indented("\(number + 1): \(token.note)") }
      return
    }
    let seen = exchanges.map(\.words) + (record.map { [$0.words] } ?? [])
    if !seen.isEmpty { terminal.wrapped(seen.joined(separator: " · "), after: "    ", .quiet) }
  }

  private func holds(_ expectation: Expectation) -> Bool {
    let seen = Seen(run.body)
    return switch expectation {
    case .status(let status): run.httpStatus == status
    case .challenge(let text): run.challenge?.contains(text) == true
    case .output(let text): run.text.contains(text)
    case .success: runs.allSatisfy { $0.status == 0 && !$0.text.contains("eyJ") }
    case .seen(let expected): exchanges.map { "\($0.service) \($0.status)" } == expected
    case .cached: record?.token_source == "cache"
    case .application(let identifier): seen?.caller?.application == identifier
    case .person(let name, let scopes): seen?.caller?.user == name && seen?.caller?.scopes == scopes
    case .token(let step): tokens[steps] != nil && tokens[steps] == tokens[step]
    case .otherToken(let step): tokens[steps] != nil && tokens[steps] != tokens[step]
    case .events(let count, let spread):
      run.spread >= spread && run.text.split(separator: "\n").count { $0.hasPrefix("data: ") } == count
    case .pages(let texts): pages.count == texts.count && zip(pages, texts).allSatisfy { $0.contains($1) }
    case .end(let address): self.address == address
    case .tokens(let notes): exchanges.filter(\.isToken).map(\.note) == notes
    }
  }
}

extension CommandRun {
  /// The status, and what matters of the rest: the API's view of its caller, the proxy's explanation or a challenge
  /// without the address for signing in.
  fileprivate var brief: String {
    let challenge = challenge?.replacing(/\ realm=.*authorization_uri="[^"]*",?/, with: " …")
    let received = body.between("\"bytes\" : ", ",").map { "API saw \($0) bytes" }
    let words =
      received ?? Seen(body).flatMap(\.words) ?? body.between("\"detail\":\"", "\"")
      ?? challenge.map { "WWW-Authenticate: \($0)" } ?? (body.contains("\n") ? "" : body)
    return words.isEmpty ? statusText : "\(statusText) · \(words)"
  }
}

/// The part of the API's report that the tour looks at.
private struct Seen: Decodable {
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
  var words: String? {
    guard let caller else { return nil }
    let name = caller.user ?? (caller.application == DemoDirectory.Sample.portal ? "Orders portal" : "a caller")
    let rights = (caller.scopes ?? caller.roles ?? []).joined(separator: ", ")
    return "API saw \(name) with \(rights); token \(token.identifier?.prefix(6) ?? "")…"
  }
}
