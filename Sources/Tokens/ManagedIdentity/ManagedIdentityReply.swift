// Reads the answers of a managed identity's service in all their shapes, and the challenge of Azure Arc.

package import Bytes

package struct ManagedIdentityReply: Sendable {
  /// Visible ASCII, at most `TokenReply.limit` bytes.
  package let accessToken: Secret
  /// Seconds that it lives, at least 1.
  package let expiresIn: Int64
  /// Seconds after which it is renewed: half its life, if that is two hours or more (MSAL's rule).
  package let refreshIn: Int64?
  /// The identity in the answer, by the parameters' names.
  package let identities: [String: String]

  /// Least life in seconds of a token that is renewed half way.
  private static let longLife: Int64 = 7200

  /// Reads an answer. `expires_on` counts before `expires_in`: App Service has only that one.
  package init(_ answer: ProviderAnswer, sent: SentSecrets, now: UnixTime) throws(TokenFailure) {
    let status = answer.status
    func failure(_ cause: TokenFailure.Cause) -> TokenFailure { answer.failure(cause, now: now) }
    // A temporary failure tells nothing about the identity.
    if [404, 408, 410, 429].contains(status) || status >= 500 { throw failure(.unintelligible) }
    guard let all = JSONValue(json: answer.body)?.members else { throw failure(answer.cause(sent)) }
    let members = sent.withholding(all)
    guard (200...299).contains(status), let token = all["access_token"]?.text, !token.isEmpty else {
      throw failure(.refused(Self.refusal(members, sent: sent, status: status)))
    }
    if let type = members["token_type"]?.text, type.lowercased() != "bearer" { throw failure(.tokenType) }
    guard token.utf8.count <= TokenReply.limit, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw failure(.unusableToken)
    }
    let lives = [members["expires_on"].flatMap { Self.life(until: $0, now: now) }, members["expires_in"]?.seconds]
    guard let life = lives.compactMap(\.self).first(where: { $0 > 0 }) else { throw failure(.lifetime) }
    accessToken = Secret(token)
    expiresIn = life
    refreshIn = life >= Self.longLife ? life / 2 : nil
    identities = members.compactMapValues(\.text).filter {
      ["client_id", "object_id", "msi_res_id", "mi_res_id"].contains($0.key)
    }
  }

  /// Seconds until an `expires_on`: seconds since 1970, a duration if they are before 2001, or a date in UTC.
  private static func life(until value: JSONValue, now: UnixTime) -> Int64? {
    if let seconds = value.seconds { return seconds < 978_307_200 ? seconds : UnixTime(seconds) - now }
    return value.text.flatMap { UnixTime(managedIdentityDate: $0) }.map { $0 - now }
  }

  /// `{error, error_description}`, `{error: {code, message}}`, or `{statusCode, message, correlationId}`.
  private static func refusal(_ members: [String: JSONValue], sent: SentSecrets, status: Int) -> TokenErrorReply {
    let inner = members["error"]?.members ?? members
    let code = members["error"]?.text ?? inner["code"]?.text ?? members["statusCode"]?.seconds.map { "status \($0)" }
    let words = members["error_description"]?.text ?? inner["message"]?.text
    let id = members["correlationId"]?.text ?? members["correlation_id"]?.text
    var standard: [String: JSONValue] = ["error": .string(code ?? "status \(status)")]
    standard["error_description"] = words.map(JSONValue.string)
    standard["correlation_id"] = id.map(JSONValue.string)
    return TokenErrorReply(members: standard, sent: sent) ?? TokenErrorReply(error: "status \(status)")
  }

  /// True if the answer is this identity's. An older agent of Arc answers with the machine's own.
  package func confirms(_ id: ManagedIdentityID) -> Bool {
    switch id {
    case .systemAssigned: true
    case .clientID(let id): identities["client_id"]?.lowercased() == id.lowercased()
    case .objectID(let id): identities["object_id"]?.lowercased() == id.lowercased()
    case .resourceID(let id): (identities["msi_res_id"] ?? identities["mi_res_id"])?.lowercased() == id.lowercased()
    }
  }
}

extension UnixTime {
  /// A date as these services write them: `yyyy-MM-dd HH:mm:ss`, `yyyy-MM-ddTHH:mm:ss`, or `MM/dd/yyyy HH:mm:ss`; with
  /// a fraction, with AM or PM, and with `Z` or `+00:00` behind it. Always UTC.
  package init?(managedIdentityDate text: String) {
    let parts = text.split { $0 == " " || $0 == "T" }
    guard parts.count >= 2, parts.count <= 4 else { return nil }
    let numbers = parts[0].split { $0 == "-" || $0 == "/" }.map { Int($0) }
    var clock = parts[1]
    if clock.hasSuffix("Z") { clock.removeLast() }
    if clock.hasSuffix("+00:00") { clock.removeLast(6) }
    let times = clock.split(separator: ":").map { Int($0.prefix { $0 != "." }) }
    let rest = parts[2...].map { $0.uppercased() }
    guard rest.allSatisfy({ ["AM", "PM", "+00:00", "Z", "UTC"].contains($0) }), numbers.count == 3, times.count == 3,
      let first = numbers[0], let second = numbers[1], let third = numbers[2], let hour = times[0],
      let minute = times[1], let seconds = times[2]
    else { return nil }
    let (year, month, day) = parts[0].contains("/") ? (third, first, second) : (first, second, third)
    guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(seconds)
    else { return nil }
    let half = rest.contains("PM") && hour < 12 ? hour + 12 : rest.contains("AM") && hour == 12 ? 0 : hour
    self.init(
      CalendarTime(year: year, month: month, day: day, hour: half, minute: minute, second: seconds).secondsSince1970)
  }
}

/// Azure Arc gives tokens to processes that can read a file that its agent names (`Basic realm=…`).
package enum ArcChallenge {
  /// The only directory of such files.
  package static let directory = "/var/opt/azcmagent/tokens"
  /// The largest such file, in bytes.
  package static let limit = 4096

  /// The name of the file in `directory` that a challenge names; nil for a challenge that names another place: a
  /// process that answers at the agent's port must not have any other file read.
  package static func file(in challenge: String, directory: String = directory) -> String? {
    let parts = challenge.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].lowercased() == "basic realm" else { return nil }
    var path = parts[1][...]
    if path.count >= 2, path.first == "\"", path.last == "\"" { path = path.dropFirst().dropLast() }
    guard path.hasPrefix(directory + "/") else { return nil }
    let name = path.dropFirst(directory.count + 1)
    guard name.hasSuffix(".key"), name.count > 4, !name.contains("/"), !name.utf8.contains(0) else { return nil }
    return String(name)
  }
}
