// The verdict and exit status of steps, and the advice for each kind of failure.

import Configuration
import HTTP
import HTTPClient
import Identity
@testable import Platform
import Proxy
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct LiveCheckReportTests {
  private static func report(_ verdicts: [CheckVerdict]) -> LiveCheckReport {
    LiveCheckReport(
      file: "p.yaml",
      routes: [CheckedRoute(name: "a", steps: verdicts.map { CheckStep(name: .token, verdict: $0, detail: "d") })])
  }

  static let verdicts: [([CheckVerdict], CheckVerdict, bearer_proxy.ExitStatus)] = [
    ([], .ok, .done), ([.ok, .ok], .ok, .done),
    ([.ok, .interactionRequired], .interactionRequired, .interactionRequired),
    ([.interactionRequired, .failed], .failed, .failed), ([.failed, .skipped], .failed, .failed),
    ([.interactionRequired, .skipped], .interactionRequired, .interactionRequired),
  ]

  @Test(arguments: verdicts)
  func `the worst step decides`(steps: [CheckVerdict], verdict: CheckVerdict, status: bearer_proxy.ExitStatus) {
    #expect(Self.report(steps).verdict == verdict)
    #expect(Self.report(steps).verdict.exitStatus == status)
  }

  @Test func `a report is lines for people and one object for programs`() {
    let report = LiveCheckReport(
      file: "p.yaml",
      routes: [
        CheckedRoute(
          name: "orders",
          steps: [
            CheckStep(name: .authority, verdict: .ok, milliseconds: 12.345, detail: "issuer"),
            CheckStep(
              name: .token, verdict: .failed, milliseconds: 1204.06, detail: "invalid\nclient", advice: "Check it."),
            CheckStep(name: .probe, verdict: .skipped, detail: "not tried"),
          ])
      ])
    #expect(
      report.text == """
        orders
          ok      authority              12.3 ms  issuer
          FAILED  token                1204.1 ms  invalid client
                  → Check it.
          skipped probe                           not tried
        p.yaml: something does not work (1 route)

        """)
    #expect(
      report.json == #"{"file":"p.yaml","routes":[{"name":"orders","steps":["#
        + #"{"detail":"issuer","ms":12.345,"step":"authority","verdict":"ok"},"#
        + #"{"advice":"Check it.","detail":"invalid\nclient","ms":1204.06,"step":"token","verdict":"failed"},"#
        + #"{"detail":"not tried","step":"probe","verdict":"skipped"}]}],"verdict":"failed"}"# + "\n")
  }

  private static func advice(hasToken: Bool = true) throws -> CheckAdvice {
    let settings = try Settings.decode(
      yaml: Array(
        """
        listeners: [{address: "127.0.0.1:0"}]
        applications: {contoso: {authority: "https://id.example/r", client_id: x, client_secret: s3cret}}
        routes:
          - {name: orders, path: /, upstream: "https://orders.example/", application: contoso,
             token: {as: application, scopes: [a.b]}}
        """.utf8), file: "p.yaml", environment: [:])
    return CheckAdvice(
      commands: OperatorCommands(configuration: "p.yaml"), route: settings.routes[0],
      application: hasToken ? settings.applications[0] : nil)
  }

  @Test func `each thing that is wrong has its advice`() throws {
    let advice = try Self.advice()
    let fetches: [(FetchError, String)] = [
      (.unresolved(host: "h", reason: "r"), "spelt right"), (.unreachable(host: "h", port: 1, errno: 111), "firewall"),
      (.tls(host: "h", reason: "r"), "ca_file"), (.tls(host: "h", reason: "r", cause: .expired), "renew"),
      (.tls(host: "h", reason: "r", cause: .notYetValid), "clock"), (.answeredWithTLS(host: "h"), "https:"),
      (.tls(host: "h", reason: "r", cause: .wrongName), "names"),
      (.unreachable(host: "h", port: 1, errno: 110), "firewall"),
      (.closed(host: "h"), "some other service's"),
      (.malformed(host: "h"), "some other service's"), (.timedOut(host: "h"), "firewall"),
    ]
    for (error, words) in fetches {
      #expect(advice.advice(AcquisitionError(.unreached(error))).contains(words), "\(error)")
    }
    let replies = [
      ("invalid_client", "client secret"), ("unauthorized_client", "does not let"), ("invalid_scope", "scopes"),
      ("access_denied", "Grant"), ("something_new", "documentation"),
    ]
    for (code, words) in replies {
      #expect(
        advice.advice(AcquisitionError(TokenFailure(.refused(TokenErrorReply(error: code)), status: 400))).contains(
          words), "\(code)")
    }
    for (status, words) in [
      (403, "client credential"), (404, "token_endpoint"), (407, "HTTPS_PROXY"), (451, "firewall"),
    ] {
      var reply = TokenErrorReply(error: "status \(status)")
      reply.isWithoutCode = true
      let text = advice.advice(AcquisitionError(TokenFailure(.refused(reply), status: 400)))
      #expect(text.contains(words) && text.contains("firewall") == (status != 407), "\(status): \(text)")
    }
    for (failure, words) in [
      (.command(.notStarted(SystemError("posix_spawn", 2))), "executable"),
      (.command(.timedOut(.seconds(1))), "'timeout'"), (.notSigned(path: nil), "env -i"),
      (.command(.failed(.exited(1), errors: [])), "status 0"),
    ] as [(ClientAssertionError, String)] {
      let proof = AcquisitionError(.assertion(failure))
      let text = advice.advice(AcquisitionError(.proof(.command("/bin/sign"), proof)))
      #expect(text.contains(words) && text.contains("/bin/sign"), "\(failure): \(text)")
    }
    for (origin, words) in [
      (.file(path: "/var/run/secrets/azure/tokens/t"), "kubectl describe pod"),
      (.file(path: "/srv/svid"), "spiffe-helper"),
      (.program, "The program"), (.issuer, "date -u"),
    ] as [(ClientAssertionOrigin, String)] {
      let error = ClientAssertionError.expired(origin, at: UnixTime(0))
      #expect(advice.advice(AcquisitionError(.assertion(error))).contains(words), "\(origin)")
    }
    #expect(advice.advice(AcquisitionError(.metadata(status: 404))).contains("openid-configuration"))
    let upstreams: [(UpstreamError, String)] = [
      (.connect(.unresolved(ResolveError(host: "h", reason: "r"))), "spelt right"),
      (.connect(.forbiddenAddress), "never contacted"), (.connect(.refused(SystemError("connect", 111))), "listens"),
      (.timedOut, "firewall"), (.tls(.truncated), "server_name"),
      (.proxyUnreachable(.timedOut), "NO_PROXY"),
    ]
    for (error, words) in upstreams { #expect(advice.advice(error).contains(words), "\(error)") }
    for (status, words) in [
      (401, "Is it for this API"), (403, "permission"), (404, "probe"), (429, "alone"), (503, "trouble"),
      (418, "documentation"),
    ] {
      #expect(advice.advice(status: status)?.contains(words) == true, "\(status)")
    }
    #expect(advice.advice(status: 204) == nil && advice.advice(status: 302) == nil)
    #expect(try Self.advice(hasToken: false).advice(status: 401)?.contains("has no token") == true)
  }
}
