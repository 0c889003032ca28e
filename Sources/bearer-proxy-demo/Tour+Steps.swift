// The part of the tour in which a person signs in, two APIs see her, the proxy starts anew, and she signs out.

import Bytes
import DemoProvider
import Platform

extension Tour {
  private typealias Sample = DemoDirectory.Sample

  /// Starts without a person, then a sign-in, two APIs, a restart, and a sign-out.
  mutating func people() throws(SpawnError) {
    beginPart("A token for a person")
    try nobodyYet()
    try signIn()
    let orders = try firstAPI()
    beginPart("One sign-in, several APIs")
    try secondAPI(orders)
    try afterRestart(orders)
    beginPart("In her name, from proxy to proxy")
    try chain()
    try chainWithoutToken()
    beginPart("When an API demands more")
    try revoked()
    try refused()
    beginPart("A second factor, and the end")
    try stepUp()
    try signOut()
  }

  private mutating func nobodyYet() throws(SpawnError) {
    begin("A route can act for a person. Alice has not signed in yet.")
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"], brief: \.problem)
    expect(
      answer.httpStatus == 401 && answer.field("www-authenticate")?.contains("interaction_required") == true
        && answer.body.contains("no_account"),
      "401 interaction_required from the proxy: there is no account")
  }

  private mutating func signIn() throws(SpawnError) {
    begin("She signs in once, in a browser anywhere, and consents for each API.")
    let words = [
      DemoPlaces.program, "login", "-c", DemoPlaces.configuration, "--route", "my-orders", "--device-code",
      "--extra-scope", "\(Sample.ledgerURI)/Ledger.Read", "--extra-scope", "\(Sample.gatewayURI)/Gateway.Access",
    ]
    terminal.command(words)
    _ = log.take()
    var printed = ""
    var pages: [String]?
    var failure: SpawnError?
    let login = try CommandRun.run(words) { piece, _ in
      if terminal.isVerbose { terminal.indented(piece.trimmed) }
      printed += piece
      guard pages == nil, failure == nil, let code = Self.userCode(in: printed) else { return }
      if !terminal.isVerbose { terminal.indented("code \(code), typed at \(services.providerOrigin)/device") }
      do throws(SpawnError) {
        pages = try atTheBrowser(code)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    let exchanges = log.take()
    let polls = exchanges.count { $0.path.hasSuffix("/token") && $0.status == 400 }
    if terminal.isVerbose {
      for exchange in exchanges where exchange.status != 400 { terminal.indented(exchange.line, .quiet) }
      terminal.indented("the provider responded \(polls) times that it waits for her", .quiet)
    } else {
      terminal.indented("her pages: \((pages ?? []).joined(separator: " · "))")
      for line in login.text.split(separator: "\n") where line.contains("is signed in") {
        terminal.indented(line.drop { $0 == " " })
      }
    }
    expect(
      login.status == 0 && pages == ["Sign in", "Orders desk asks for your permission", "You are signed in"]
        && !login.text.contains("eyJ"),
      "signed in: exit status 0, and no token is shown")
  }

  /// The code in what the command printed, once the line is complete.
  private static func userCode(in text: String) -> String? {
    text.firstMatch(of: /\b[B-Z]{4}-[B-Z]{4}\b/).map { String($0.0) }
  }

  /// Types the code, signs in, consents: the headings of the pages.
  private func atTheBrowser(_ code: String) throws(SpawnError) -> [String] {
    var headings: [String] = []
    var form = ["--data-urlencode", "user_code=\(code)"]
    var address = "\(services.providerOrigin)/device"
    for answer in [
      ["user=\(Sample.alice)", "password=\(Sample.password)", "action=sign-in"], ["action=accept"], [],
    ] {
      let page = try show(Self.browser + form + [address])
      headings.append(page.between("<h1>", "</h1>") ?? "?")
      guard let action = page.between("method=\"post\" action=\"", "\""),
        let name = page.between("name=\"interaction\" value=\"", "\"")
      else { break }
      address = services.providerOrigin + action
      form = (["interaction=\(name)"] + answer).flatMap { ["--data-urlencode", $0] }
    }
    return headings
  }

  /// curl as her browser.
  static let browser = [
    "curl", "-sS", "--cacert", DemoPlaces.authority, "-c", DemoPlaces.cookies, "-b", DemoPlaces.cookies,
  ]

  /// Runs a command of a browser's: its page. Shown with --verbose only.
  func show(_ words: [String]) throws(SpawnError) -> String {
    let page = try CommandRun.run(words).text
    if terminal.isVerbose {
      terminal.command(words)
      terminal.indented("page: \(page.between("<h1>", "</h1>") ?? "?")", .quiet)
    }
    return page
  }

  private mutating func firstAPI() throws(SpawnError) -> Seen? {
    begin("From now on the proxy acts for her.")
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"], brief: \.caller)
    let seen = Seen(answer.body)
    expect(
      answer.httpStatus == 200 && seen?.caller?.user == Sample.alice && seen?.caller?.scopes == ["Orders.Read"],
      "200, and the orders API saw Alice, with the one scope that she granted")
    return seen
  }

  private mutating func secondAPI(_ orders: Seen?) throws(SpawnError) {
    begin("The other API gets its own token, with its own scopes, from that sign-in.")
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/ledger/list"], brief: \.caller)
    let seen = Seen(answer.body)
    expect(
      answer.httpStatus == 200 && seen?.caller?.user == Sample.alice && seen?.caller?.scopes == ["Ledger.Read"]
        && seen?.token.identifier != orders?.token.identifier,
      "200, Alice again, another token, and no page for her")
  }

  private mutating func afterRestart(_ orders: Seen?) throws(SpawnError) {
    begin("A proxy that starts again finds her account in the cache file.")
    terminal.command([DemoPlaces.program, "run", "-c", DemoPlaces.configuration])
    let isReady = try restart()
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"], brief: \.caller)
    let identifier = Seen(answer.body)?.token.identifier
    expect(
      isReady && answer.httpStatus == 200 && identifier != nil && identifier == orders?.token.identifier,
      "200 with the token from before the restart, without a sign-in")
  }

  private mutating func signOut() throws(SpawnError) {
    begin("Signing out removes the account from the cache. The running proxy notices.")
    let logout = try run([
      DemoPlaces.program, "logout", "-c", DemoPlaces.configuration, "--account", Sample.alice,
    ]) { [$0.text] }
    // What is shown is a call after the proxy has noticed.
    let call = ["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"]
    let start = MonotonicTime.now
    while try CommandRun.run(call).httpStatus != 401, MonotonicTime.now < start + .seconds(10) {}
    let answer = try run(call, brief: \.problem)
    expect(logout.status == 0 && answer.httpStatus == 401, "exit status 0, and her route responds with 401 again")
  }
}
