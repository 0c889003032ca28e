// Owns the part of the tour in which an API asks for more than the token it got: once healed in silence, once by the
// person.

import DemoProvider

extension Tour {
  private typealias Sample = DemoDirectory.Sample

  /// A session that is evaluated anew, while its token would have been good for an hour.
  mutating func revoked() throws(SpawnError) {
    begin("Something about Alice's access changes, and the API refuses her old token. The caller notices nothing.")
    _ = try run([
      "curl", "-sS", "--cacert", trustPath, "-d", #"{"user": "\#(Sample.alice)"}"#,
      "\(services.providerOrigin)/testing/critical-event",
    ])
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/list"])
    let statuses = lastExchanges.map { "\($0.service) \($0.status)" }
    expect(
      answer.httpStatus == 200 && statuses.contains("api 401") && statuses.contains("provider 200")
        && statuses.contains("api 200"),
      "200: the API's claims challenge went to the provider, which gave a token that the API takes")
  }

  /// A demand that only the person can meet, and does on the sign-in pages.
  mutating func stepUp() throws(SpawnError) {
    begin("A payout takes a second factor. Silence cannot give that, so the API's answer comes back untouched.")
    let refused = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/payouts"])
    expect(
      refused.httpStatus == 401 && refused.field("www-authenticate")?.contains("insufficient_claims") == true,
      "401 insufficient_claims, from the API; the proxy remembers what a sign-in has to bring")

    begin("The sign-in page asks for just that. Alice types the code, and the payout goes through.")
    terminal.line()
    let browser = ["curl", "-sS", "--cacert", trustPath, "-c", places.cookiePath, "-b", places.cookiePath]
    let page = try show(browser + ["\(places.pagesOrigin)/.bearer/sign-in?route=my-orders&return=/my/orders/payouts"])
    let seal = page.between("name=\"seal\" value=\"", "\"") ?? ""
    let there = try redirect(
      browser + [
        "-d", "route=my-orders", "-d", "return=/my/orders/payouts", "-d", "seal=\(seal)",
        "\(places.pagesOrigin)/.bearer/sign-in",
      ])
    let question = try show(browser + [there])
    let form = [
      "interaction=\(question.between("name=\"interaction\" value=\"", "\"") ?? "")", "action=verify",
      "code=\(question.between("the code is ", "<") ?? "")",
    ].flatMap { ["-d", $0] }
    let back = try redirect(
      browser + form + [services.providerOrigin + (question.between("method=\"post\" action=\"", "\"") ?? "")])
    let end = try redirect(browser + [back])
    let answer = try run(["curl", "-sSi", "\(places.proxyOrigin)/my/orders/payouts"])
    expect(
      page.contains("one-time code (c1)") && end == "\(places.pagesOrigin)/my/orders/payouts"
        && answer.httpStatus == 200 && Seen(answer.body)?.caller?.user == Sample.alice,
      "one page of the proxy's, one of the provider's, back to the path; then 200")
  }

  /// Runs a command of a browser's and shows it: where its answer redirects to.
  private func redirect(_ words: [String]) throws(SpawnError) -> String {
    terminal.line("  $ " + words.map(quoted).joined(separator: " "), .command)
    let location = try CommandRun.run(words + ["-o", "/dev/null", "-w", "%{redirect_url}"]).text
    terminal.indented("redirected to \(location.prefix { $0 != "?" })", .quiet)
    return location
  }
}
