// The identity provider of a simulated world: Entra's shape, limits, rotation of refresh tokens with reuse detection.

import Bytes
import HTTP
import HTTPClient
import Tokens

/// `@unchecked Sendable`: one thread.
final class SimulatedProvider: @unchecked Sendable {
  static let tenant = "11111111-aaaa-4aaa-8aaa-111111111111"
  static let authority = "https://login.microsoftonline.com/\(tenant)"

  private let metadata = Array(
    #"{"issuer": "\#(authority)/v2.0", "token_endpoint": "\#(authority)/oauth2/v2.0/token"}"#.utf8)
  private let schedule: Schedule
  private let judge: Judge
  let rules: ProviderRules
  var weather = ProviderWeather.fine {
    willSet { if weather != .fine { badUntil = schedule.now } }
  }
  private var badUntil = -Double.infinity
  private var limits: RequestLimits
  /// The requests by second; nil if they are not counted, in a run of years.
  var book: RequestBook?
  private var grants: [String: Grant] = [:]
  /// Tokens that were issued.
  private(set) var tokens = 0
  private var questions = 0

  /// The right of one sign-in to tokens.
  private struct Grant {
    var generation = 0
    var isRevoked = false
  }

  init(_ rules: ProviderRules, _ schedule: Schedule, _ judge: Judge) {
    self.rules = rules
    self.schedule = schedule
    self.judge = judge
    limits = RequestLimits(rules)
  }

  /// True if the weather has been fine since a time.
  func isFine(since time: Double) -> Bool { weather == .fine && badUntil < time }

  /// The way of a process to the provider.
  func fetch(from process: ProcessLife) -> Fetch {
    { (request) async throws(FetchError) in
      let (host, sent) = (request.url.host, self.schedule.now)
      await self.travel(process)
      if self.schedule.random.chance(self.rules.loss) { throw .closed(host: host) }
      guard process.isAlive else { throw .closed(host: host) }
      switch self.weather {
      case .away: throw .unreachable(host: host, port: 443, errno: 111)
      case .silent:
        await self.schedule.sleep(Double((request.answerLimit ?? .seconds(10)).nanoseconds) / 1e9)
        throw .timedOut(host: host)
      case .fine, .slow, .failing: break
      }
      let question = self.question(request, process, sent)
      self.judge.arrived(question, at: self.schedule.now)
      let answer = self.answer(question)
      if case .slow(let seconds) = self.weather { await self.schedule.sleep(seconds) }
      await self.travel(process)
      let isLost = self.schedule.random.chance(self.rules.loss) || !process.isAlive
      self.judge.answered(question, answer, isLost: isLost, at: self.schedule.now)
      if isLost { throw .closed(host: host) }
      return answer.response
    }
  }

  private func travel(_ process: ProcessLife) async {
    await schedule.sleep(schedule.random.number(in: rules.latency))
    process.pass()
  }

  private func question(_ request: FetchRequest, _ process: ProcessLife, _ sent: Double) -> ProviderQuestion {
    questions += 1
    var question = ProviderQuestion(process: process, sent: sent, number: questions)
    guard case .post(_, let body) = request.method else { return question }
    let form = FormMembers(body)
    question.client = form["client_id"] ?? ""
    question.scopes = form["scope"] ?? ""
    question.claims = form["claims"] ?? ""
    question.refreshToken = form["refresh_token"]
    question.isForToken = true
    return question
  }

  private func answer(_ question: ProviderQuestion) -> ProviderAnswer {
    if case .failing(let status) = weather {
      note(question, isRefused: true)
      return refusal(status)
    }
    // Limits are of tokens.
    guard question.isForToken else { return ProviderAnswer(FetchResponse(status: 200, body: metadata)) }
    let isAdmitted = limits.admits(address: question.process.address, at: schedule.now)
    note(question, isRefused: !isAdmitted)
    guard isAdmitted else { return refusal(429) }
    guard let refreshToken = question.refreshToken else {
      return tokens(question, subject: "app", members: "")
    }
    return renewal(question, refreshToken)
  }

  private func note(_ question: ProviderQuestion, isRefused: Bool) {
    book?.note(schedule.now, isRefused: isRefused, isTold: judge.isTold(question.process))
  }

  private func refusal(_ status: Int) -> ProviderAnswer {
    var fields: [(name: String, value: String)] = []
    if status == 429 { fields = [("retry-after", "\(rules.retryAfter)")] }
    let body = Array(#"{"error": "temporarily_unavailable"}"#.utf8)
    var answer = ProviderAnswer(FetchResponse(status: status, fields: fields, body: body))
    answer.retryAfter = status == 429 ? rules.retryAfter : nil
    return answer
  }

  private func tokens(_ question: ProviderQuestion, subject: String, members: String) -> ProviderAnswer {
    tokens += 1
    let token = TokenFacts.text(
      client: question.client, subject: subject, scopes: question.scopes, claims: question.claims,
      end: schedule.now + Double(rules.tokenLife), number: tokens)
    let text =
      #"{"access_token": "\#(token)", "token_type": "Bearer", "expires_in": \#(rules.tokenLife)\#(members)}"#
    var answer = ProviderAnswer(FetchResponse(status: 200, body: Array(text.utf8)))
    answer.token = TokenFacts(token)
    return answer
  }

  private func renewal(_ question: ProviderQuestion, _ refreshToken: String) -> ProviderAnswer {
    let parts = refreshToken.split(separator: "~")
    guard parts.count == 3, let generation = Int(parts[2]), var grant = grants[String(parts[1])] else {
      return Self.invalidGrant
    }
    let person = String(parts[1])
    if generation < grant.generation, !grant.isRevoked {
      grant.isRevoked = true
      judge.revoked(person, by: question, latest: grant.generation, at: schedule.now)
    }
    defer { grants[person] = grant }
    if grant.isRevoked { return Self.invalidGrant }
    grant.generation += 1
    let members =
      #", "scope": "\#(question.scopes)", "refresh_token": "\#(Self.refreshToken(person, grant.generation))", "#
      + Self.identity(person)
    var answer = tokens(question, subject: person, members: members)
    answer.generation = grant.generation
    return answer
  }

  private static let invalidGrant = ProviderAnswer(
    FetchResponse(status: 400, body: Array(#"{"error": "invalid_grant"}"#.utf8)))

  private static func refreshToken(_ person: String, _ generation: Int) -> String { "rt~\(person)~\(generation)" }

  /// The generation of a person's refresh token; nil after it was revoked.
  func generation(of person: String) -> Int? { grants[person].flatMap { $0.isRevoked ? nil : $0.generation } }

  /// The members of a reply that name a person.
  private static func identity(_ person: String) -> String {
    let info = Base64URL.encode(Array(#"{"uid":"\#(person)","utid":"\#(tenant)"}"#.utf8))
    let claims =
      #"{"iss":"\#(authority)/v2.0","sub":"\#(person)","oid":"\#(person)","preferred_username":"\#(person)@x.example"}"#
    return #""client_info": "\#(info)", "id_token": "e30.\#(Base64URL.encode(Array(claims.utf8))).x""#
  }

  /// Signs a person in: what a sign-in stores.
  func signIn(_ person: String, client: String, scopes: String, now: UnixTime) throws -> IssuedTokens {
    grants[person] = Grant()
    let token = TokenFacts.text(
      client: client, subject: person, scopes: scopes, claims: "", end: schedule.now + Double(rules.tokenLife),
      number: 0)
    let body =
      #"{"access_token": "\#(token)", "token_type": "Bearer", "expires_in": \#(rules.tokenLife), "#
      + #""scope": "\#(scopes)", "refresh_token": "\#(Self.refreshToken(person, 0))", "# + Self.identity(person) + "}"
    let reply = try TokenReply(Tokens.ProviderAnswer(status: 200, body: Array(body.utf8)), sent: .none, now: now)
    return IssuedTokens(
      reply, clientID: client, environment: "login.microsoftonline.com", realm: Self.tenant,
      grantType: "authorization_code", requested: try ScopeSet(parameter: scopes))
  }
}

/// A request as the provider reads it.
struct ProviderQuestion {
  let process: ProcessLife
  /// The time at which the process sent it.
  let sent: Double
  let number: Int
  var client = ""
  var scopes = ""
  var claims = ""
  var refreshToken: String?
  /// False: it is for the metadata.
  var isForToken = false

  init(process: ProcessLife, sent: Double, number: Int) {
    (self.process, self.sent, self.number) = (process, sent, number)
  }

  /// The person whose refresh token it uses; nil for an application's own.
  var person: String? { refreshToken.flatMap { $0.split(separator: "~").dropFirst().first.map(String.init) } }

  /// The key of the token that it asks for; of a person's, all that one refresh token serves.
  var key: String { isForToken ? "\(client) \(person ?? "app \(scopes) \(claims)")" : "metadata" }
}

struct ProviderAnswer {
  var response: FetchResponse
  var token: TokenFacts?
  /// The generation of the refresh token in it.
  var generation: Int?
  var retryAfter: Int64?

  init(_ response: FetchResponse) { self.response = response }
}
