// The proxy's own answers: status and kind of every failure, and what they must not say.

import FoundationEssentials
import HTTP
import HTTPClient
@testable import Identity
@testable import Platform
import Routing
import Telemetry
import Testing
import Tokens

@testable import Proxy

@Suite struct ProblemDocumentTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var failure: ExchangeFailure
    var status: Int
    var kind: String
    var retryAfter: Int64?
    var testDescription: String { "\(failure)" }
  }

  /// A marker in place of addresses and the provider's prose.
  private static let private_ = "10.1.2.3-private.example"
  private static let unresolved = ResolveError(host: private_, reason: "Name or service not known")
  private static let reply = TokenErrorReply(
    error: "invalid_client", codes: [7_000_215], description: private_, correlationID: private_)

  /// Status and kind of an answer, and the failures that have it.
  private static let answers: [(Int, String, [ExchangeFailure])] = [
    (
      400, "bad-request",
      [
        .head(.requestLine), .head(.hostMissing), .framing(.bothLengths), .targetRefused, .handOut(.content),
        .handOut(.message), .handOut(.description), .handOut(.fields), .program(.shape(.imds)), .delivery(.content),
        .delivery(.contentCut), .maxForwards, .callTimeout,
      ]
    ),
    (414, "target-too-long", [.head(.targetTooLong)]),
    (431, "head-too-large", [.head(.headTooLarge), .head(.field(.tooMany))]),
    (505, "version-not-supported", [.head(.versionUnsupported)]),
    (408, "request-timeout", [.headStalled, .delivery(.contentStalled), .delivery(.contentTooSlow)]),
    (501, "bad-request", [.framing(.transferCodingUnknown)]),
    (400, "bad-path", [.path(.climbsAboveRoot)]),
    (501, "method-not-supported", [.methodRefused, .tunnelRefused]),
    (421, "misdirected-request", [.schemeRefused]),
    (417, "expectation-failed", [.expectation]),
    (421, "unknown-host", [.caller(.unknownHost)]),
    (403, "cross-site-request", [.caller(.crossSite), .caller(.unknownPage), .handOut(.browser), .program(.browser)]),
    (403, "speculative-request", [.caller(.speculative)]),
    (403, "service-worker-refused", [.caller(.serviceWorker)]),
    (
      403, "caller-refused",
      [.caller(.unknownPeer), .caller(.unknownCertificate), .caller(.missingSecret), .handOut(.route)]
    ),
    (401, "caller-not-authenticated", [.caller(.untrustedToken), .program(.client), .program(.secret)]),
    (403, "caller-scope-missing", [.caller(.missingScope)]),
    (400, "authorization-refused", [.authorizationRefused]),
    (400, "choice-refused", [.choiceRefused, .program(.unknownResource)]),
    (403, "bad-path", [.handOut(.otherRoute)]),
    (400, "caller-refused", [.program(.forwarded)]),
    (404, "no-route", [.program(.nothingHere), .noRoute]),
    (405, "method-not-allowed", [.program(.method), .methodNotAllowed]),
    (403, "token-refused", [.refusedToken(status: 403)]),
    (413, "content-too-large", [.delivery(.tooLarge)]),
    (502, "token-request-rejected", [.token(AcquisitionError(TokenFailure(.refused(reply), status: 401)))]),
    (
      502, "authority-unusable",
      [
        .token(AcquisitionError(.document(.issuer(found: private_)), retryAfter: 60)),
        .token(AcquisitionError(.metadata(status: 404), retryAfter: 60)),
      ]
    ),
    (504, "upstream-timeout", [.unreachable(.timedOut), .delivery(.upstreamStalled)]),
    (
      502, "upstream-unreachable",
      [
        .unreachable(.connect(.unresolved(unresolved))), .unreachable(.connect(.refused(SystemError("connect", 111)))),
        .unreachable(.connect(.forbiddenAddress)), .unreachable(.tls(.truncated)),
        .unreachable(.proxyUnreachable(.timedOut)), .unreachable(.proxy(.credentials)), .unreachable(.withoutHTTP2),
        .unreachable(.withoutWebSockets),
      ]
    ),
    (502, "upstream-closed", [.delivery(.upstreamClosed)]),
    (508, "loop-detected", [.loop, .suspectedLoop]),
    (502, "upstream-malformed", [.delivery(.upstreamMalformed(.fieldLine))]),
    (504, "exchange-timeout", [.delivery(.exchangeTimedOut)]),
  ]

  /// Those that say when to come back.
  private static let delays: [(Int, String, Int64, ExchangeFailure)] = [
    (503, "caller-issuer-unavailable", 5, .callerIssuerUnavailable),
    (503, "identity-provider-unavailable", 1, .handOut(.overtaken)),
    (
      503, "identity-provider-unavailable", 7,
      .token(AcquisitionError(.unreached(.closed(host: private_)), retryAfter: 7))
    ),
    (503, "token-cache-unavailable", 2, .token(AcquisitionError(.cacheUnread, retryAfter: 2))),
  ]

  private static func rows() throws -> [Row] {
    let interaction = InteractionRequired(
      reason: .noAccount, scopes: .none, authority: try Authority("https://id.example/realm"))
    let tokens: [(Int, String, AcquisitionError)] = [
      (401, "interaction-required", AcquisitionError(.interaction(interaction))),
      (401, "caller-claims-required", AcquisitionError(.refused(try refused(.claims(claims))))),
      (403, "caller-consent-required", AcquisitionError(.refused(try refused(.consent)))),
      (401, "caller-token-refused", AcquisitionError(.refused(try refused(.invalidToken)))),
      (403, "caller-denied", AcquisitionError(.refused(try refused(.denied)))),
    ]
    return answers.flatMap { status, kind, failures in
      failures.map { Row(failure: $0, status: status, kind: kind) }
    } + delays.map { Row(failure: $3, status: $0, kind: $1, retryAfter: $2) }
      + tokens.map { Row(failure: .token($2), status: $0, kind: $1) }
  }

  /// The kinds of failure. The compiler demands a kind for each new case, and the test below a row for each kind.
  private enum Kind: CaseIterable {
    case head, headStalled, framing, path, methodRefused, targetRefused, schemeRefused, maxForwards, loop, expectation
    case tunnelRefused
    case unknownHost, crossSite, unknownPage, speculative, serviceWorker, unknownPeer
    case unknownCertificate, missingSecret, untrustedToken, callerIssuerUnavailable, authorizationRefused, noRoute
    case missingScope, callTimeout
    case methodNotAllowed, tooLarge, content, contentCut, contentStalled, contentTooSlow, providerUnavailable, rejected
    case choiceRefused, suspectedLoop, refusedToken, program
    case handOutBrowser, handOutContent, handOutDescription, handOutFields, handOutRoute, handOutOvertaken
    case handOutOtherRoute, handOutMessage
    case unusableMetadata, cacheUnavailable, interactionRequired, callerClaims, callerConsent, callerToken, callerDenied
    case connect, tls, timedOut, proxyUnreachable, proxy, withoutHTTP2, withoutWebSockets
    case upstreamClosed, upstreamMalformed, upstreamStalled, exchangeTimedOut

    private init(_ kind: AcquisitionError.Kind) {
      switch kind {
      case .providerUnavailable: self = .providerUnavailable
      case .rejected: self = .rejected
      case .unusableMetadata: self = .unusableMetadata
      case .cacheUnavailable: self = .cacheUnavailable
      case .interactionRequired: self = .interactionRequired
      case .assertionRefused(let refused):
        switch refused.refusal {
        case .claims: self = .callerClaims
        case .consent: self = .callerConsent
        case .invalidToken: self = .callerToken
        case .denied: self = .callerDenied
        }
      }
    }

    init(_ failure: ExchangeFailure) {
      switch failure {
      case .head: self = .head
      case .headStalled: self = .headStalled
      case .framing: self = .framing
      case .path: self = .path
      case .methodRefused: self = .methodRefused
      case .tunnelRefused: self = .tunnelRefused
      case .targetRefused: self = .targetRefused
      case .schemeRefused: self = .schemeRefused
      case .maxForwards: self = .maxForwards
      case .callTimeout: self = .callTimeout
      case .loop: self = .loop
      case .suspectedLoop: self = .suspectedLoop
      case .expectation: self = .expectation
      case .caller(.unknownHost): self = .unknownHost
      case .caller(.crossSite): self = .crossSite
      case .caller(.unknownPage): self = .unknownPage
      case .caller(.speculative): self = .speculative
      case .caller(.serviceWorker): self = .serviceWorker
      case .caller(.unknownPeer): self = .unknownPeer
      case .caller(.unknownCertificate): self = .unknownCertificate
      case .caller(.missingSecret): self = .missingSecret
      case .caller(.untrustedToken): self = .untrustedToken
      case .caller(.missingScope): self = .missingScope
      case .callerIssuerUnavailable: self = .callerIssuerUnavailable
      case .authorizationRefused: self = .authorizationRefused
      case .program: self = .program
      case .handOut(.browser): self = .handOutBrowser
      case .handOut(.content): self = .handOutContent
      case .handOut(.message): self = .handOutMessage
      case .handOut(.description): self = .handOutDescription
      case .handOut(.fields): self = .handOutFields
      case .handOut(.route): self = .handOutRoute
      case .handOut(.overtaken): self = .handOutOvertaken
      case .handOut(.otherRoute): self = .handOutOtherRoute
      case .refusedToken: self = .refusedToken
      case .noRoute: self = .noRoute
      case .choiceRefused: self = .choiceRefused
      case .methodNotAllowed: self = .methodNotAllowed
      case .delivery(.tooLarge): self = .tooLarge
      case .delivery(.content): self = .content
      case .delivery(.contentCut): self = .contentCut
      case .delivery(.contentStalled): self = .contentStalled
      case .delivery(.contentTooSlow): self = .contentTooSlow
      case .token(let error): self.init(error.kind)
      case .unreachable(.connect): self = .connect
      case .unreachable(.tls): self = .tls
      case .unreachable(.timedOut): self = .timedOut
      case .unreachable(.proxyUnreachable): self = .proxyUnreachable
      case .unreachable(.proxy): self = .proxy
      case .unreachable(.withoutHTTP2): self = .withoutHTTP2
      case .unreachable(.withoutWebSockets): self = .withoutWebSockets
      case .delivery(.upstreamClosed): self = .upstreamClosed
      case .delivery(.upstreamMalformed): self = .upstreamMalformed
      case .delivery(.upstreamStalled): self = .upstreamStalled
      case .delivery(.exchangeTimedOut): self = .exchangeTimedOut
      }
    }
  }

  @Test func `every kind of failure has its row`() throws {
    let missing = Set(Kind.allCases).subtracting(try Self.rows().map { Kind($0.failure) })
    #expect(missing.isEmpty)
  }

  private static func json(
    _ problem: ProblemDocument, route: String = "", requestID: String = "", signIn: String? = nil,
    reachesCache: Bool = true
  ) -> [UInt8] {
    problem.json(
      route: route, requestID: requestID, signIn: signIn,
      commands: OperatorCommands(configuration: "p.yaml", reachesCache: reachesCache))
  }

  static let cures: [(InteractionReason, link: String?, reachesCache: Bool, cure: String)] = [
    (.noAccount, nil, true, "The operator signs in with 'bearer-proxy login --route mail'; no restart is needed."),
    (
      .noAccount, nil, false,
      "The operator has to set 'cache: {file: PATH}' and restart, then sign in with 'bearer-proxy login'."
    ),
    (.noAccount, "/x", false, "Sign in, and come back here."),
    (.signInRequired, "/x", true, "Sign in, and come back here."),
    (.accountAmbiguous, "/x", true, "Name one under the route's 'token'."),
    (.protectionPolicyRequired, "/x", true, "Use an account or a device that satisfies the policy."),
    (.protectionPolicyRequired, nil, false, "Use an account or a device that satisfies the policy."),
  ]

  @Test(arguments: cures) func `no caller is told to do what would be refused`(
    reason: InteractionReason, link: String?, reachesCache: Bool, cure: String
  ) throws {
    let required = InteractionRequired(
      reason: reason, scopes: .none, authority: try Authority("https://id.example/realm"))
    let json = Self.json(
      ProblemDocument(.token(AcquisitionError(.interaction(required)))), route: "mail", signIn: link,
      reachesCache: reachesCache)
    #expect(try JSONDecoder().decode(Document.self, from: Data(json)).detail.hasSuffix(". " + cure))
  }

  private struct Document: Decodable {
    var type: String
    var title: String
    var status: Int
    var detail: String
    var route: String?
    var requestID: String?

    enum CodingKeys: String, CodingKey {
      case type, title, status, detail, route
      case requestID = "request_id"
    }
  }

  @Test(arguments: try rows()) func `each failure has one answer, which names no address and no host`(row: Row) throws {
    let problem = ProblemDocument(row.failure)
    #expect(problem.status == row.status)
    #expect(problem.retryAfter == row.retryAfter)
    let json = Self.json(problem, route: "orders", requestID: "abc")
    let document = try JSONDecoder().decode(Document.self, from: Data(json))
    #expect(document.type == "urn:bearer-proxy:problem:\(row.kind)")
    #expect(document.status == row.status)
    #expect(document.route == "orders")
    #expect(document.requestID == "abc")
    #expect(!document.title.isEmpty)
    #expect(document.detail.hasSuffix("."))
    #expect(!String(decoding: json, as: UTF8.self).contains(Self.private_))
  }

  @Test func `a provider's refusal of a caller's token becomes a challenge only if the caller can act on it`()
    throws
  {
    let location =
      #"Bearer realm="bearer-proxy", "#
      + #"authorization_uri="https://login.microsoftonline.com/t.example/oauth2/v2.0/authorize""#
    let rows: [(AssertionRefusal, String?, String)] = [
      (
        .claims(try Self.claims),
        #"\#(location), error="insufficient_claims", claims="eyJhIjoiYlwicSJ9""#, #""claims":"{\"a\":\"b\\\"q\"}""#
      ),
      (.invalidToken, #"\#(location), error="invalid_token""#, ""),
      (
        .consent, nil,
        #""scopes":["api://x/a"],"admin_consent":"https://login.microsoftonline.com/t.example/adminconsent?client_id=c""#
      ),
      (.denied, nil, ""),
    ]
    for (refusal, challenge, member) in rows {
      let refused = try Self.refused(refusal)
      #expect(refused.challenge == challenge)
      let json = Self.json(ProblemDocument(.token(AcquisitionError(.refused(refused)))))
      #expect(String(decoding: json, as: UTF8.self).contains(member))
    }
  }

  private static var claims: Claims { get throws { try Claims(json: #"{"a":"b\"q"}"#) } }

  private static func refused(_ refusal: AssertionRefusal) throws -> AssertionRefused {
    AssertionRefused(
      refusal,
      AcquisitionKey(
        authority: try Authority("https://login.microsoftonline.com/t.example"), clientID: "c",
        credential: CredentialVersion(0), subject: .caller(nil, .onBehalfOf),
        scopes: try ScopeSet(parameter: "api://x/a"),
        claims: nil))
  }

  @Test func `texts from configuration and callers cannot break out of the JSON`() throws {
    let hostile = "a\"b\\c\u{0}\n\u{1F}\u{2028}é"
    let json = Self.json(ProblemDocument(.noRoute), route: hostile, requestID: hostile)
    let document = try JSONDecoder().decode(Document.self, from: Data(json))
    #expect(document.route == hostile)
    #expect(document.requestID == hostile)
    #expect(json.last == UInt8(ascii: "\n"))
    #expect(json.dropLast().allSatisfy { $0 >= 0x20 })
  }

  @Test func `unknown members are left out`() throws {
    let json = Self.json(ProblemDocument(.headStalled))
    let document = try JSONDecoder().decode(Document.self, from: Data(json))
    #expect(document.route == nil)
    #expect(document.requestID == nil)
  }
}
