// Owns the part of the tour in which a person signs in: what they do at the browser, and what the proxy does from then
// on.

import DemoProvider
import Platform

extension Tour {
  private typealias Sample = DemoDirectory.Sample

  /// From nobody, through a sign-in, two APIs and a restart, to nobody.
  mutating func people() throws(SpawnError) {
    try nobodyYet()
    try signIn()
    let orders = try firstAPI()
    try secondAPI(orders)
    try afterRestart(orders)
    try revoked()
    try stepUp()
    try signOut()
  }

  private mutating func nobodyYet() throws(SpawnError) {
    begin(
      "A route can act for a person. Until Alice has signed in, the proxy says what is missing, in words for programs.")
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"])
    expect(
      answer.httpStatus == 401 && answer.field("www-authenticate")?.contains("interaction_required") == true
        && answer.body.contains("no_account"),
      "401 from the proxy: interaction_required, because there is no account")
  }

  private mutating func signIn() throws(SpawnError) {
    begin("She signs in once, on any device, and consents for both APIs. Here curl is her browser.")
    let words = [
      proxyPath, "login", "-c", places.configurationPath, "--route", "my-orders", "--device-code", "--extra-scope",
      "\(Sample.ledgerURI)/Ledger.Read",
    ]
    terminal.line()
    terminal.line("  $ " + words.map(quoted).joined(separator: " "), .command)
    _ = log.take()
    var printed = ""
    var pages: [String]?
    var failure: SpawnError?
    let login = try CommandRun.run(words) { piece, _ in
      terminal.indented(piece.trimmed)
      printed += piece
      guard pages == nil, failure == nil, let code = Self.userCode(in: printed) else { return }
      do throws(SpawnError) {
        pages = try atTheBrowser(code)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    let exchanges = log.take()
    let polls = exchanges.count { $0.path.hasSuffix("/token") && $0.status == 400 }
    for exchange in exchanges where exchange.status != 400 { terminal.indented(ExchangeLog.text(exchange), .quiet) }
    terminal.indented("provider was polled \(polls) times before", .quiet)
    expect(
      login.status == 0 && pages == ["Sign in", "orders-desk asks for your permission", "You are signed in"]
        && !login.text.contains("eyJ"),
      "signed in, with the pages Sign in, permission, done; exit status 0, and no token in sight")
  }

  /// The code in what the command printed, once the line is complete.
  private static func userCode(in text: String) -> String? {
    text.firstMatch(of: /\b[B-Z]{4}-[B-Z]{4}\b/).map { String($0.0) }
  }

  /// Types the code, signs in, consents: the headings of the pages.
  private func atTheBrowser(_ code: String) throws(SpawnError) -> [String] {
    let browser = ["curl", "-sS", "--cacert", trustPath, "-c", places.cookiePath, "-b", places.cookiePath]
    var headings: [String] = []
    var form = ["--data-urlencode", "user_code=\(code)"]
    var address = "\(services.providerOrigin)/device"
    for answer in [
      ["user=\(Sample.alice)", "password=\(Sample.password)", "action=sign-in"], ["action=accept"], [],
    ] {
      let page = try show(browser + form + [address])
      headings.append(page.between("<h1>", "</h1>") ?? "?")
      guard let action = page.between("method=\"post\" action=\"", "\""),
        let name = page.between("name=\"interaction\" value=\"", "\"")
      else { break }
      address = services.providerOrigin + action
      form = (["interaction=\(name)"] + answer).flatMap { ["--data-urlencode", $0] }
    }
    return headings
  }

  /// Runs a command of a browser's and shows it, and the heading of its page.
  func show(_ words: [String]) throws(SpawnError) -> String {
    terminal.line("  $ " + words.map(quoted).joined(separator: " "), .command)
    let page = try CommandRun.run(words).text
    terminal.indented("page: \(page.between("<h1>", "</h1>") ?? "?")", .quiet)
    return page
  }

  private mutating func firstAPI() throws(SpawnError) -> Seen? {
    begin("From now on the proxy acts for her, silently.")
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"])
    let seen = Seen(answer.body)
    expect(
      answer.httpStatus == 200 && seen?.caller?.user == Sample.alice && seen?.caller?.scopes == ["Orders.Read"],
      "200, and the orders API saw Alice, who lets it be read and nothing more")
    return seen
  }

  private mutating func secondAPI(_ orders: Seen?) throws(SpawnError) {
    begin("The other API has a token of its own: from the same sign-in, with its own scopes only.")
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/ledger/list"])
    let seen = Seen(answer.body)
    expect(
      answer.httpStatus == 200 && seen?.caller?.user == Sample.alice && seen?.caller?.scopes == ["Ledger.Read"]
        && seen?.token.identifier != orders?.token.identifier,
      "200, Alice again, another token, and nobody was asked")
  }

  private mutating func afterRestart(_ orders: Seen?) throws(SpawnError) {
    begin("A proxy that starts anew finds her account in the cache file.")
    terminal.line()
    terminal.line("  $ kill -TERM … ; \(quoted(proxyPath)) run -c \(quoted(places.configurationPath))", .command)
    let isReady = try restart()
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"])
    let identifier = Seen(answer.body)?.token.identifier
    expect(
      isReady && answer.httpStatus == 200 && identifier != nil && identifier == orders?.token.identifier,
      "200 with the very token from before the restart, without a sign-in")
  }

  private mutating func signOut() throws(SpawnError) {
    begin("Signing out takes the account from the cache; the running proxy notices.")
    let logout = try run([proxyPath, "logout", "-c", places.configurationPath, "--account", Sample.alice])
    // Within a second, by contract; a first answer may still be the old one.
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"])
    var status = answer.httpStatus
    let deadline = MonotonicTime.now + .seconds(2)
    while status != 401, MonotonicTime.now < deadline {
      status = try CommandRun.run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"]).httpStatus
    }
    expect(logout.status == 0 && status == 401, "exit status 0, and 401 again within a second")
  }
}

extension String {
  /// What stands between two texts, the first time.
  func between(_ start: String, _ end: String) -> String? {
    guard let from = firstRange(of: start)?.upperBound, let to = self[from...].firstRange(of: end)?.lowerBound else {
      return nil
    }
    return String(self[from..<to])
  }
}
