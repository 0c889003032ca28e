import DemoProvider
import FoundationEssentials

extension Tour {
  /// The steps, in parts that fit a screen.
  static func steps(_ places: DemoPlaces) -> [Step] {
    typealias Sample = DemoDirectory.Sample
    let size = FileManager.default.contents(atPath: "proxy.yaml")?.count ?? -1
    let alice = "200 OK · API saw \(Sample.alice) with"
    let isQuiet = "exit status 0, no token is shown"
    func curl(_ words: String...) -> Call { .command(["curl", "-sSi"] + words) }
    /// A call through the proxy.
    func get(_ path: String, _ words: String..., until status: Int? = nil) -> Call {
      .command(["curl", "-sSi"] + words + [places.proxyOrigin + path], until: status)
    }
    func program(_ name: String, _ words: String..., answers: [[String]] = []) -> Call {
      .command([DemoPlaces.program, name, "-c", "proxy.yaml"] + words, answers: answers)
    }
    return [
      Step(
        part: "A token for an application", text: "Without the proxy, the API refuses a call that has no token.",
        calls: [curl("--cacert", DemoPlaces.authority, "\(places.services.apiOrigin)/api/me")],
        expected: ["401 Unauthorized · WWW-Authenticate: Bearer "],
        result: "401, and a challenge that asks for a bearer token"),
      Step(
        text: "Through the proxy the same call succeeds. The program that calls has no credentials.",
        calls: [get("/orders/me")], expected: ["200 OK · API saw Orders portal with Orders.Read, Orders.Write;"],
        result: "200, and the API saw the application Orders portal with its roles"),
      Step(
        text: "The next call has the same token, from memory. The provider is not asked.", calls: [get("/orders/list")],
        expected: ["200 OK", "the token of step 2", "token from cache", "services: api 200."],
        result: "200 with the token of the first call; the provider saw nothing"),
      Step(
        part: "Without a secret",
        text: "A certificate proves an application as well: its key signs, and nothing secret is sent.",
        calls: [get("/nightly/me")], expected: ["200 OK", "\"application\": \"\(Sample.nightly)\""],
        result: "200, and the API saw the application nightly"),
      Step(
        text: "A machine with an identity keeps nothing: its own service hands out the token.",
        calls: [get("/machine/me")], expected: ["200 OK", "\"application\": \"\(Sample.machine)\""],
        result: "200, and the API saw the application machine"),
      Step(
        text: "A program that connects by itself asks for a token as Azure's SDKs do.",
        calls: [program("exec", "--log-level", "error", "--", "sh", "reports.sh")],
        expected: [isQuiet, Sample.portal], result: "the API saw the application Orders portal"),
      Step(
        part: "Streams, bodies and refusals", text: "Responses stream: each event arrives when the API sends it.",
        calls: [.command(["curl", "-sSN", "\(places.proxyOrigin)/orders/ticks?count=4&pause_ms=300"])],
        expected: ["4 events, one by one"],
        result: "4 events, at least 600 ms from the first to the last"),
      Step(
        text: "Request bodies stream too. The API responds with the size that arrived.",
        calls: [get("/orders/uploads", "--data-binary", "@proxy.yaml")], expected: ["200 OK · API saw \(size) bytes"],
        result: "200, and all \(size) bytes arrived"),
      Step(
        text: "A right that was not granted is refused, in the API's own words.",
        calls: [get("/orders/approvals", "-X", "POST")],
        expected: ["403 Forbidden · WWW-Authenticate: Bearer … error=\"insufficient_scope\""],
        result: "403 insufficient_scope, from the API"),
      Step(
        part: "Foreign pages, commands and health",
        text: "A web page of another site, in a browser on this machine, cannot use the token.",
        calls: [get("/orders/me", "-H", "Origin: https://evil.example", "-H", "Sec-Fetch-Site: cross-site")],
        expected: ["403 Forbidden", "services: ."],
        result: "403, from the proxy: neither the API nor the provider saw anything"),
      Step(
        text: "A command tells about the token and does not show it.",
        calls: [program("token", "--route", "orders", "--json")],
        expected: [isQuiet, "expires"],
        result: "exit status 0, and no token is shown"),
      Step(
        text: "Health and metrics have a listener of their own. No person is signed in yet.",
        calls: [curl(places.readiness)], expected: ["200 OK"],
        result: "200: the proxy serves; a person's routes wait for a sign-in (next part)"),
      Step(
        part: "A token for a person", text: "A route can act for a person. Alice has not signed in yet.",
        calls: [get("/my/orders/list")], expected: ["401 Unauthorized", "interaction_required", "no_account"],
        result: "401 interaction_required from the proxy: there is no account"),
      Step(
        text: "She signs in once, in a browser anywhere, and consents for each API.",
        calls: [
          program(
            "login", "--route", "my-orders", "--device-code", "--extra-scope", "\(Sample.ledgerURI)/Ledger.Read",
            "--extra-scope", "\(Sample.gatewayURI)/Gateway.Access",
            answers: [["user=\(Sample.alice)", "password=\(Sample.password)", "action=sign-in"], ["action=accept"]])
        ],
        expected: [
          isQuiet, "Sign in a device · Sign in · Orders desk asks for your permission · You are signed in",
        ], result: "signed in: exit status 0, and no token is shown"),
      Step(
        text: "From now on the proxy acts for her.", calls: [get("/my/orders/list")],
        expected: ["\(alice) Orders.Read;"],
        result: "200, and the orders API saw Alice, with the one scope that she granted"),
      Step(
        part: "One sign-in, several APIs",
        text: "The other API gets its own token, with its own scopes, from that sign-in.",
        calls: [get("/my/ledger/list")], expected: ["\(alice) Ledger.Read;", "a new token"],
        result: "200, Alice again, another token, and no page for her"),
      Step(
        text: "A proxy that starts again finds her account in the cache file.",
        calls: [.restart, get("/my/orders/list")], expected: ["200 OK", "the token of step 15"],
        result: "200 with the token from before the restart, without a sign-in"),
      Step(
        part: "In her name, from proxy to proxy",
        text: "Two more proxies (gateway.yaml, branch.yaml) follow one another. Each asks for a token in its "
          + "caller's name, in exchange for the one that it was called with.", calls: [get("/chain/me")],
        expected: [
          "\(alice) Orders.Read;", "\"application\": \"\(Sample.branch)\"",
          "1: token for \(Sample.alice) by Orders desk: \(Sample.gatewayURI)/Gateway.Access",
          "2: token for \(Sample.alice) by Gateway: \(Sample.branchURI)/Branch.Access",
          "3: token for \(Sample.alice) by Branch: \(Sample.ordersURI)/Orders.Read",
        ], result: "200, and the API saw Alice: each token is hers, is for the next hop, and names who asked"),
      Step(
        text: "A caller without a token is refused: these proxies do not call on in their own name.",
        calls: [curl("\(places.gatewayOrigin)/me")], expected: ["401 Unauthorized", "services: ."],
        result: "401, from the first of the two: neither the API nor the provider saw anything"),
      Step(
        part: "When an API demands more",
        text: "Alice's access changes, and the API refuses her old token. The proxy gets another one, "
          + "and the caller gets its response.",
        calls: [
          curl(
            "--cacert", DemoPlaces.authority, "-d", #"{"user": "\#(Sample.alice)"}"#,
            "\(places.services.providerOrigin)/testing/critical-event"), get("/my/orders/list"),
        ], expected: ["\(alice) Orders.Read;", "services: api 401, provider 200, api 200."],
        result: "200: the proxy took the API's demand to the provider, and sent a new token"),
      Step(
        text: "A payout demands a second factor, which no refresh gives: the caller gets the API's response.",
        calls: [get("/my/orders/payouts")], expected: ["401 Unauthorized", "insufficient_claims"],
        result: "401 insufficient_claims, from the API; the proxy remembers what a sign-in must bring"),
      Step(
        part: "A second factor, and signing out",
        text: "The sign-in page asks for that. Alice types a code, and the payout succeeds.",
        calls: [
          .pages(places.signIn("/my/orders/payouts"), [[], ["action=verify", "code=CODE"]]), get("/my/orders/payouts"),
        ],
        expected: [
          "one-time code (c1)", " · Verify that it is you · back at /my/orders/payouts", "\(alice) Orders.Read;",
        ], result: "one page of the proxy, one of the provider, back to the path; then 200"),
      Step(
        text: "Signing out removes the account from the cache. The running proxy notices.",
        calls: [
          program("logout", "--account", Sample.alice), get("/my/orders/list", until: 401),
        ], expected: [isQuiet, "401 Unauthorized"], result: "exit status 0, and her route responds with 401 again"),
    ]
  }
}
