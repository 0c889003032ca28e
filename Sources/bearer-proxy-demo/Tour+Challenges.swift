// The part of the tour in which an API asks for more than the token it got: once answered without the person, once by
// her.

import DemoProvider

extension Tour {
  private typealias Sample = DemoDirectory.Sample

  /// A session that is evaluated again, while its token would have been valid for an hour.
  mutating func revoked() throws(SpawnError) {
    begin("Something about Alice's access changes, and the API refuses her old token. The caller notices nothing.")
    _ = try run([
      "curl", "-sS", "--cacert", DemoPlaces.authority, "-d", #"{"user": "\#(Sample.alice)"}"#,
      "\(services.providerOrigin)/testing/critical-event",
    ]) { _ in [] }
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"], brief: \.caller)
    let statuses = lastExchanges.map { "\($0.service) \($0.status)" }
    expect(
      answer.httpStatus == 200 && statuses.contains("api 401") && statuses.contains("provider 200")
        && statuses.contains("api 200"),
      "200: the proxy took the API's demand to the provider, and sent a new token")
  }

  /// A demand that only the person can meet.
  mutating func refused() throws(SpawnError) {
    begin("A payout demands a second factor. No refresh gives that: the API's response comes back.")
    let refused = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/payouts"], brief: \.challenge)
    expect(
      refused.httpStatus == 401 && refused.field("www-authenticate")?.contains("insufficient_claims") == true,
      "401 insufficient_claims, from the API; the proxy remembers what a sign-in must bring")
  }

  /// She meets it on the sign-in pages.
  mutating func stepUp() throws(SpawnError) {
    begin("The sign-in page asks for that. Alice types a code, and the payout succeeds.")
    if !terminal.isVerbose {
      terminal.indented("her browser: \(places.pagesOrigin)/.bearer/sign-in?route=my-orders")
    }
    let page = try show(
      Self.browser + ["\(places.pagesOrigin)/.bearer/sign-in?route=my-orders&return=/my/orders/payouts"])
    let seal = page.between("name=\"seal\" value=\"", "\"") ?? ""
    let there = try redirect(
      Self.browser + [
        "-d", "route=my-orders", "-d", "return=/my/orders/payouts", "-d", "seal=\(seal)",
        "\(places.pagesOrigin)/.bearer/sign-in",
      ])
    let question = try show(Self.browser + [there])
    let form = [
      "interaction=\(question.between("name=\"interaction\" value=\"", "\"") ?? "")", "action=verify",
      "code=\(question.between("the code is ", "<") ?? "")",
    ].flatMap { ["-d", $0] }
    let back = try redirect(
      Self.browser + form + [services.providerOrigin + (question.between("method=\"post\" action=\"", "\"") ?? "")])
    let end = try redirect(Self.browser + [back])
    if !terminal.isVerbose {
      let headings = [page, question].map { $0.between("<h1>", "</h1>") ?? "?" }
      terminal.indented("her pages: \(headings.joined(separator: " · ")) · back at /my/orders/payouts")
    }
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/payouts"], brief: \.caller)
    expect(
      page.contains("one-time code (c1)") && end == "\(places.pagesOrigin)/my/orders/payouts"
        && answer.httpStatus == 200 && Seen(answer.body)?.caller?.user == Sample.alice,
      "one page of the proxy, one of the provider, back to the path; then 200")
  }

  /// Runs a command of a browser's: where its answer redirects to. Shown with --verbose only.
  private func redirect(_ words: [String]) throws(SpawnError) -> String {
    let location = try CommandRun.run(words + ["-o", "/dev/null", "-w", "%{redirect_url}"]).text
    if terminal.isVerbose {
      terminal.command(words)
      terminal.indented("redirected to \(location.prefix { $0 != "?" })", .quiet)
    }
    return location
  }
}
