// The runner of the tour: it carries out the calls of `Tour+Steps.swift`, shows them, and looks for the expected texts.

import Bytes
import DemoProvider
import Platform

/// A step: calls, and the texts that each must be in a line of what they come to.
struct Step {
  /// The title of the part that begins with it.
  var part: String?
  var text: String
  var calls: [Call]
  var expected: [String]
  /// The sentence for it.
  var result: String
}

enum Call {
  /// One response by curl, with these words; repeated until it has the status, if one is given.
  case request([String], until: Int? = nil)
  /// An event stream by curl.
  case events(String)
  /// A command of bearer-proxy.
  case program([String])
  /// `login` with a device code, whose pages at this address a person fills in.
  case login([String], at: String, [[String]])
  /// Pages from this address on, which a person fills in. `CODE` is the one-time code of the page.
  case pages(String, [[String]])
  /// The proxy ends, and starts again.
  case restart
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
  /// What the step's calls came to.
  private var seen: [String] = []
  /// The step that first saw each token, by the token's identifier.
  private var tokens: [String: Int] = [:]

  init(
    _ terminal: Terminal, _ places: DemoPlaces, _ log: ExchangeLog,
    restart: @escaping () throws(DemonstrationError) -> Void
  ) {
    (self.terminal, self.places, self.log, self.restart) = (terminal, places, log, restart)
    waitsForReader = terminal.waitsForReader
  }

  /// Carries out every step, also after one that failed.
  mutating func walk() throws(DemonstrationError) {
    let all = Self.steps(places)
    var part = 0
    for step in all {
      if let title = step.part {
        part += 1
        if waitsForReader { waitsForReader = terminal.askForNext() }
        terminal.line("\n\(title) (\(part) of \(all.count { $0.part != nil }))", .title)
      }
      steps += 1
      seen = []
      terminal.line()
      terminal.wrapped(step.text, after: "\(steps). ".padded(4), .heading)
      for call in step.calls {
        if terminal.isVerbose { terminal.line() }
        _ = log.take()
        try carryOut(call)
      }
      if let missed = step.expected.first(where: { text in !seen.contains { $0.contains(text) } }) {
        failures += 1
        terminal.wrapped("\(step.result) (\(missed))", after: "  ✗ expected: ", .bad)
      } else {
        terminal.wrapped(step.result, after: "  ✓ ", .good)
      }
    }
  }

  private mutating func carryOut(_ call: Call) throws(DemonstrationError) {
    switch call {
    case .request(let words, let status):
      let words = ["curl", "-sSi"] + words
      let deadline = MonotonicTime.now + .seconds(10)
      while let status, try CommandRun(words).httpStatus != status, MonotonicTime.now < deadline {}
      if status != nil { _ = log.take() }
      terminal.command(words)
      let run = try CommandRun(words)
      let brief = brief(run)
      seen += [run.text, brief]
      report(run, brief, records.next(status: run.httpStatus))
    case .events(let address):
      let words = ["curl", "-sSN", address]
      terminal.command(words)
      let run = try CommandRun(words) { [terminal] text, time in
        for event in text.split(separator: "\n") where event.hasPrefix("data: ") {
          terminal.indented("after \(Int(time / .milliseconds(1))) ms".padded(16) + event)
        }
      }
      let count = run.text.split(separator: "\n").count { $0.hasPrefix("data: ") }
      seen.append("\(count) events\(run.spread < .milliseconds(600) ? ", all at once" : ", one by one")")
      report(run, nil, records.next(status: 0))
    case .program(let words):
      terminal.command([DemoPlaces.program] + words)
      let run = try CommandRun([DemoPlaces.program] + words)
      add(run)
      report(run, run.text, nil)
    case .login(let words, let address, let answers):
      terminal.command([DemoPlaces.program] + words)
      try login(words, address, answers)
    case .pages(let address, let answers):
      if !terminal.isVerbose { terminal.indented("her browser: \(address.prefix { $0 != "&" })") }
      let (headings, end) = try browse(address, answers)
      let words = "\(headings) · back at \(end.dropFirst(places.pagesOrigin.count))"
      seen.append(words)
      if !terminal.isVerbose { terminal.wrapped("her pages: \(words)", after: "    ") }
    case .restart:
      terminal.command([DemoPlaces.program, "run", "-c", "proxy.yaml"])
      try restart()
    }
  }

  private mutating func add(_ run: CommandRun) {
    seen += [run.text, "exit status \(run.status), \(run.text.contains("eyJ") ? "a" : "no") token is shown"]
  }

  private mutating func login(
    _ words: [String], _ address: String, _ answers: [[String]]
  ) throws(DemonstrationError) {
    var printed = ""
    var pages: Result<String, DemonstrationError>?
    let run = try CommandRun([DemoPlaces.program] + words) { piece, _ in
      if terminal.isVerbose { terminal.indented(piece.trimmed) }
      printed += piece
      guard pages == nil, let code = printed.firstMatch(of: /\b[B-Z]{4}-[B-Z]{4}\b/)?.0 else { return }
      if !terminal.isVerbose { terminal.indented("code \(code), typed at \(address)") }
      do throws(DemonstrationError) {
        pages = .success(try browse(address, [["user_code=\(code)"]] + answers).headings)
      } catch {
        pages = .failure(error)
      }
    }
    let headings = try pages?.get() ?? ""
    add(run)
    seen.append(headings)
    // The command asks again while the person fills in the pages.
    let exchanges = log.take().filter { $0.status != 400 }
    if terminal.isVerbose {
      for exchange in exchanges { terminal.indented(exchange.line, .quiet) }
      return
    }
    terminal.wrapped("her pages: \(headings)", after: "    ")
    for line in run.text.split(separator: "\n") where line.contains("is signed in") {
      terminal.indented(line.drop { $0 == " " })
    }
  }

  /// Fills in one page after the other, with curl as her browser. Returns the pages' headings and the last address.
  private mutating func browse(
    _ start: String, _ answers: [[String]]
  ) throws(DemonstrationError) -> (headings: String, end: String) {
    var (address, headings, form): (String, [String], [String]) = (start, [], [])
    for index in 0...answers.count {
      let words =
        ["curl", "-sSL", "--cacert", DemoPlaces.authority, "-c", DemoPlaces.cookies, "-b", DemoPlaces.cookies]
        + form.flatMap { ["--data-urlencode", $0] } + [address]
      let text = try CommandRun(words + ["-w", "\n%{url_effective}"]).text
      seen.append(text)
      address = text.split(separator: "\n").last.map(String.init) ?? ""
      let heading = text.between("<h1>", "</h1>")
      if let heading { headings.append(heading) }
      if terminal.isVerbose {
        terminal.command(words)
        terminal.indented("page: \(heading ?? "?") at \(address.prefix { $0 != "?" })", .quiet)
      }
      if index == answers.count { break }
      let page = text.between("<form method=\"post\"", "</form>") ?? ""
      let code = text.between("the code is ", "<") ?? ""
      form = answers[index].map { $0.replacing("CODE", with: code) }
      for hidden in page.matches(of: /type="hidden" name="([^"]*)" value="([^"]*)"/) {
        form.append("\(hidden.1)=\(hidden.2)")
      }
      let origin = address.firstMatch(of: /^https?:\/\/[^\/]*/)?.0 ?? ""
      address = "\(origin)\(page.between("action=\"", "\"") ?? "/")"
    }
    return (headings.joined(separator: " · "), address)
  }

  /// Shows a call's output, and what the services and the proxy report of it: with --verbose all of it, otherwise
  /// `brief` and a line for the rest. No brief: its output is shown already.
  private mutating func report(_ run: CommandRun, _ brief: String?, _ record: AccessRecord?) {
    let exchanges = log.take()
    let tokens = exchanges.filter(\.isToken)
    seen += tokens.enumerated().map { "\($0 + 1): \($1.note)" }
    seen.append("services: \(exchanges.map { "\($0.service) \($0.status)" }.joined(separator: ", ")).")
    if let record { seen.append(record.words) }
    if terminal.isVerbose {
      for exchange in exchanges { terminal.indented(exchange.line, .quiet) }
      if let record { terminal.indented(record.line, .quiet) }
      if brief != nil { terminal.indented(run.text.replacing("\r\n", with: "\n").trimmed) }
      return
    }
    for line in (brief ?? "").trimmed.split(separator: "\n") {
      terminal.indented(String(line).shortened(to: Terminal.columns - 4))
    }
    if tokens.count > 1 {
      for (number, token) in tokens.enumerated() { terminal.indented("\(number + 1): \(token.note)") }
      return
    }
    let words = exchanges.map(\.words) + (record.map { [$0.words] } ?? [])
    if !words.isEmpty { terminal.wrapped(words.joined(separator: " · "), after: "    ", .quiet) }
  }

  /// The status, and what matters of the rest: the API's view of its caller, the proxy's explanation or a challenge
  /// without the address for signing in.
  private mutating func brief(_ run: CommandRun) -> String {
    let challenge = run.challenge?.replacing(/\ realm=.*authorization_uri="[^"]*",?/, with: " …")
    let words =
      run.body.between("\"bytes\": ", ",").map { "API saw \($0) bytes" } ?? view(run.body)
      ?? run.body.between("\"detail\":\"", "\"") ?? challenge.map { "WWW-Authenticate: \($0)" }
      ?? (run.body.contains("\n") ? "" : run.body)
    return words.isEmpty ? run.statusText : "\(run.statusText) · \(words)"
  }

  /// The caller in the API's report, its rights, and the beginning of the token's identifier.
  private mutating func view(_ body: String) -> String? {
    let report = JSONValue(json: Array(body.utf8))?.members
    guard let caller = report?["caller"]?.members, let token = report?["token"]?.members?["identifier"]?.text else {
      return nil
    }
    let first = tokens[token] ?? steps
    tokens[token] = first
    seen.append(first == steps ? "a new token" : "the token of step \(first)")
    let isPortal = caller["application"]?.text == DemoDirectory.Sample.portal
    let name = caller["user"]?.text ?? (isPortal ? "Orders portal" : "a caller")
    guard case .array(let rights) = caller["scopes"] ?? caller["roles"] ?? .array([]) else { return nil }
    let words = rights.compactMap(\.text).joined(separator: ", ")
    return "API saw \(name) with \(words); token \(token.prefix(6))…"
  }
}
