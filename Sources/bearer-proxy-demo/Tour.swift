import Bytes
import DemoProvider
import Platform

/// A step: calls, and the texts that each must be in a line of what they come to.
struct Step {
  /// The title of the part that begins with it.
  var part: String?
  let text: String
  let calls: [Call]
  let expected: [String]
  /// The sentence for it.
  let result: String
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
      let run = try run(words)
      let brief = brief(run)
      seen.append(brief)
      report(run, brief, records.next(status: run.httpStatus))
    case .events(let address):
      let start = MonotonicTime.now
      var times: [Duration] = []
      let run = try run(["curl", "-sSN", address]) { [terminal] text in
        times.append(Duration(MonotonicTime.now - start))
        for event in text.split(separator: "\n") where event.hasPrefix("data: ") {
          terminal.indented("after \(Int(times[times.count - 1] / .milliseconds(1))) ms".padded(16) + event)
        }
      }
      let areSpread = (times.last ?? .zero) - (times.first ?? .zero) >= .milliseconds(600)
      let count = run.text.split(separator: "\n").count { $0.hasPrefix("data: ") }
      seen.append("\(count) events\(areSpread ? ", one by one" : ", all at once")")
      report(run, nil, records.next(status: 0))
    case .program(let words):
      let run = try run([DemoPlaces.program] + words)
      report(run, run.text, nil)
    case .login(let words, let address, let answers):
      try login(words, address, answers)
    case .pages(let address, let answers):
      terminal.indented("her browser: \(address.prefix { $0 != "&" })")
      let (headings, end, texts) = try browse(address, answers)
      seen += texts
      show(pages: "\(headings) · back at \(end.dropFirst(places.pagesOrigin.count))")
    case .restart:
      terminal.command([DemoPlaces.program, "run", "-c", "proxy.yaml"])
      try restart()
    }
  }

  /// Shows a command, runs it, and keeps what it came to.
  private mutating func run(
    _ words: [String], hear: (String) -> Void = { _ in }
  ) throws(DemonstrationError) -> CommandRun {
    terminal.command(words)
    let run = try CommandRun(words, hear: hear)
    seen += [run.text, "exit status \(run.status), \(run.text.contains("eyJ") ? "a" : "no") token is shown"]
    return run
  }

  private mutating func login(
    _ words: [String], _ address: String, _ answers: [[String]]
  ) throws(DemonstrationError) {
    var printed = ""
    var pages: Result<(headings: String, end: String, texts: [String]), DemonstrationError>?
    let run = try run([DemoPlaces.program] + words) { [self] piece in
      if terminal.isVerbose { terminal.indented(piece.trimmed) }
      printed += piece
      guard pages == nil, let code = printed.firstMatch(of: /\b[B-Z]{4}-[B-Z]{4}\b/)?.0 else { return }
      terminal.indented("code \(code), typed at \(address)")
      do throws(DemonstrationError) {
        pages = .success(try browse(address, [["user_code=\(code)"]] + answers))
      } catch {
        pages = .failure(error)
      }
    }
    // The command asks again while the person fills in the pages.
    show(log.take().filter { $0.status != 400 })
    show(pages: try pages?.get().headings ?? "")
    for line in run.text.split(separator: "\n") where line.contains("is signed in") {
      terminal.indented(line.drop { $0 == " " })
    }
  }

  /// With --verbose, shows what the services and the proxy report, a line each.
  private func show(_ exchanges: [DemoExchange]) {
    if terminal.isVerbose { for exchange in exchanges { terminal.indented(exchange.line, .quiet) } }
  }

  private mutating func show(pages: String) {
    seen.append(pages)
    terminal.wrapped("her pages: \(pages)", after: "    ")
  }

  /// Fills in one page after the other, with curl as her browser. Returns the pages' headings, the last address and
  /// the pages.
  private func browse(
    _ start: String, _ answers: [[String]]
  ) throws(DemonstrationError) -> (headings: String, end: String, texts: [String]) {
    var (address, headings, form, texts): (String, [String], [String], [String]) = (start, [], [], [])
    for answer in answers + [nil] {
      let words =
        ["curl", "-sSL", "--cacert", DemoPlaces.authority, "-c", DemoPlaces.cookies, "-b", DemoPlaces.cookies]
        + form.flatMap { ["--data-urlencode", $0] } + [address]
      let text = try CommandRun(words + ["-w", "\n%{url_effective}"]).text
      texts.append(text)
      address = text.split(separator: "\n").last.map(String.init) ?? ""
      let heading = text.between("<h1>", "</h1>")
      if let heading { headings.append(heading) }
      if terminal.isVerbose {
        terminal.command(words)
        terminal.indented("page: \(heading ?? "?") at \(address.prefix { $0 != "?" })", .quiet)
      }
      guard let answer else { break }
      let page = text.between("<form method=\"post\"", "</form>") ?? ""
      form = answer.map { $0.replacing("CODE", with: text.between("the code is ", "<") ?? "") }
      form += page.matches(of: /type="hidden" name="([^"]*)" value="([^"]*)"/).map { "\($0.1)=\($0.2)" }
      let origin = address.firstMatch(of: /^https?:\/\/[^\/]*/)?.0 ?? ""
      address = "\(origin)\(page.between("action=\"", "\"") ?? "/")"
    }
    return (headings.joined(separator: " · "), address, texts)
  }

  /// Shows a call's output, and what the services and the proxy report of it: with --verbose all of it, otherwise
  /// `brief` and a line for the rest. No brief: its output is shown already.
  private mutating func report(_ run: CommandRun, _ brief: String?, _ record: DemoExchange?) {
    let exchanges = log.take()
    let all = exchanges + (record.map { [$0] } ?? [])
    let tokens = exchanges.filter(\.isToken).enumerated().map { "\($0 + 1): \($1.note)" }
    seen += tokens + all.map(\.words)
    seen.append("services: \(exchanges.map { "\($0.service) \($0.status)" }.joined(separator: ", ")).")
    show(all)
    if terminal.isVerbose {
      if brief != nil { terminal.indented(run.text.replacing("\r\n", with: "\n").trimmed) }
      return
    }
    for line in (brief ?? "").trimmed.split(separator: "\n") {
      terminal.indented(String(line).shortened(to: Terminal.columns - 4))
    }
    if tokens.count > 1 {
      for token in tokens { terminal.indented(token) }
    } else if !all.isEmpty {
      terminal.wrapped(all.map(\.words).joined(separator: " · "), after: "    ", .quiet)
    }
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
    guard let caller = report?["caller"]?.members, let token = report?["token"]?.members?["identifier"]?.text,
      case .array(let rights) = caller["scopes"] ?? caller["roles"] ?? .array([])
    else { return nil }
    let first = tokens[token] ?? steps
    tokens[token] = first
    seen.append(first == steps ? "a new token" : "the token of step \(first)")
    let isPortal = caller["application"]?.text == DemoDirectory.Sample.portal
    let name = caller["user"]?.text ?? (isPortal ? "Orders portal" : "a caller")
    let words = rights.compactMap(\.text).joined(separator: ", ")
    return "API saw \(name) with \(words); token \(token.prefix(6))…"
  }
}
