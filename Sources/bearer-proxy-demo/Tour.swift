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
  /// A command, repeated until its response has the status, if one is given. If there are answers, a person types the
  /// code that it shows at the provider's page for devices, and fills in the pages that follow.
  case command([String], until: Int? = nil, answers: [[String]] = [])
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
  /// True if the next part waits for Enter.
  var waitsForReader: Bool

  var steps = 0
  var failures = 0
  var records = AccessRecords()
  /// The results of the step's calls.
  var seen: [String] = []
  /// The step that first saw each token, by the token's identifier.
  var tokens: [String: Int] = [:]

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
    case .command(let words, let status, let answers):
      let deadline = MonotonicTime.now + .seconds(10)
      while let status, try CommandRun(words).httpStatus != status, MonotonicTime.now < deadline {}
      if status != nil { _ = log.take() }
      try run(words, answers)
    case .pages(let address, let answers):
      terminal.indented("her browser: \(address.prefix { $0 != "&" })")
      try browse(address, answers)
    case .restart:
      terminal.command([DemoPlaces.program, "run", "-c", "proxy.yaml"])
      try restart()
    }
  }

  /// Shows a command, runs it, and shows and keeps its results: with --verbose all of it, otherwise what matters.
  private mutating func run(_ words: [String], _ answers: [[String]]) throws(DemonstrationError) {
    terminal.command(words)
    let start = MonotonicTime.now
    var (events, printed): ([Duration], String) = ([], "")
    var code: Substring?
    let run = try CommandRun(words) { piece throws(DemonstrationError) in
      printed += piece
      for line in piece.replacing("\r\n", with: "\n").trimmed.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.hasPrefix("data: ") {
          events.append(Duration(MonotonicTime.now - start))
          terminal.indented("after \(Int(events[events.count - 1] / .milliseconds(1))) ms".padded(16) + line)
        } else if terminal.isVerbose {
          terminal.indented(line)
        }
      }
      guard !answers.isEmpty, code == nil else { return }
      code = printed.firstMatch(of: /\b[B-Z]{4}-[B-Z]{4}\b/)?.0
      guard let code else { return }
      let address = "\(places.services.providerOrigin)/device"
      terminal.indented("code \(code), typed at \(address)")
      try browse(address, [["user_code=\(code)"]] + answers)
    }
    seen += [run.text, "exit status \(run.status), \(run.text.contains("eyJ") ? "a" : "no") token is shown"]
    if let first = events.first, let last = events.last {
      seen.append("\(events.count) events\(last - first >= .milliseconds(600) ? ", one by one" : ", all at once")")
    }
    let isProxied = words.contains { $0.hasPrefix(places.proxyOrigin) }
    let record = isProxied ? records.next(status: run.httpStatus) : nil
    let exchanges = log.take()
    let all = exchanges + [record].compactMap(\.self)
    let tokens = exchanges.filter(\.isToken).enumerated().map { "\($0 + 1): \($1.note)" }
    seen += tokens + all.map(\.words)
    seen.append("services: \(exchanges.map { "\($0.service) \($0.status)" }.joined(separator: ", ")).")
    let brief = brief(run)
    seen.append(brief)
    if terminal.isVerbose {
      // A command asks again while the person fills in the pages.
      for exchange in all where answers.isEmpty || exchange.status != 400 { terminal.indented(exchange.line, .quiet) }
      return
    }
    for line in brief.split(separator: "\n") where answers.isEmpty || line.contains("is signed in") {
      let width = Terminal.columns - 4
      terminal.indented(line.count <= width ? line : line.prefix(width - 1) + "…")
    }
    if tokens.count > 1 {
      for token in tokens { terminal.indented(token) }
    } else if !all.isEmpty, answers.isEmpty {
      terminal.wrapped(all.map(\.words).joined(separator: " · "), after: "    ", .quiet)
    }
  }

  /// Fills in one page after the other, with curl as her browser. Shows and keeps the pages' headings and the path at
  /// the proxy that they lead back to.
  private mutating func browse(_ start: String, _ answers: [[String]]) throws(DemonstrationError) {
    var (address, headings, form): (String, [String], [String]) = (start, [], [])
    for answer in answers + [nil] {
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
      guard let answer else { break }
      let page = text.between("<form method=\"post\"", "</form>") ?? ""
      form = answer.map { $0.replacing("CODE", with: text.between("the code is ", "<") ?? "") }
      form += page.matches(of: /type="hidden" name="([^"]*)" value="([^"]*)"/).map { "\($0.1)=\($0.2)" }
      let origin = address.firstMatch(of: /^https?:\/\/[^\/]*/)?.0 ?? ""
      address = "\(origin)\(page.between("action=\"", "\"") ?? "/")"
    }
    if address.hasPrefix(places.pagesOrigin) {
      headings.append("back at \(address.dropFirst(places.pagesOrigin.count))")
    }
    seen.append(headings.joined(separator: " · "))
    terminal.wrapped("her pages: \(seen[seen.count - 1])", after: "    ")
  }

  /// The parts of a response that matter: the status, and the API's view of its caller, the proxy's explanation, or a
  /// challenge without the address for signing in. Other output is shown whole, and events are shown already.
  private mutating func brief(_ run: CommandRun) -> String {
    guard run.httpStatus != 0 else { return run.text.contains("data: ") ? "" : run.text }
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
