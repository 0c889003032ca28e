package import Bytes

/// An answer of a provider, or of a service that gives out tokens.
package struct ProviderAnswer: Sendable {
  package let status: Int
  let retryAfter: String?
  let contentType: String?
  package let body: [UInt8]

  package init(status: Int, retryAfter: String? = nil, contentType: String? = nil, body: [UInt8]) {
    self.status = status
    self.retryAfter = retryAfter
    self.contentType = contentType
    self.body = body
  }

  /// The failure for this cause, with the pause that the answer asks for.
  package func failure(_ cause: TokenFailure.Cause, now: UnixTime) -> TokenFailure {
    TokenFailure(cause, status: status, retryAfter: pause(now: now))
  }

  /// Seconds to wait, if the answer names them.
  package func pause(now: UnixTime) -> Int64? { retryAfter.flatMap { RetryAfter(field: $0, now: now)?.seconds } }
}

extension ProviderAnswer {
  /// The failure of an answer without an OAuth error in it, by status.
  ///
  /// | status | meaning |
  /// |---|---|
  /// | 408, 425, 429, 5xx | the server cannot answer now: the same request may succeed later |
  /// | any other 4xx, and 3xx | a refusal: the provider's (401, 403, 400), a firewall's or a proxy's (403, 407), or \
  /// the endpoint is not there (404, 405, 3xx); asking again changes nothing |
  /// | 2xx | no answer of the endpoint: a page of something on the way |
  func cause(_ sent: SentSecrets) -> TokenFailure.Cause {
    guard (300...499).contains(status), status != 425, !TokenErrorClass.isTransient(status: status) else {
      return .unintelligible
    }
    var reply = TokenErrorReply(error: "status \(status)", description: description(sent))
    reply.isWithoutCode = true
    return .refused(reply)
  }

  /// Bytes that are searched for secrets of the request, and bytes of these that may be shown.
  private static let (examined, shown) = (8192, 4096)

  /// A description, at most 300 characters. Nothing of a text that repeats a secret of the request is shown.
  private func description(_ sent: SentSecrets) -> String {
    let kind = contentType.map { $0.prefix { $0 != ";" }.filter { $0 != " " } } ?? ""
    if body.isEmpty { return "an empty answer without an OAuth error" }
    let named = kind.isEmpty ? "an answer without a content type" : String(kind)
    let beginning = String(decoding: body.prefix(Self.examined), as: UTF8.self)
    let isShort = body.count <= Self.shown
    let text = Self.words(of: isShort ? beginning : String(decoding: body.prefix(Self.shown), as: UTF8.self))
    // Without its tags a page may spell a secret that it does not spell with them.
    let readings = [named, beginning, Self.withoutTags(beginning, instead: ""), text]
    if readings.contains(where: sent.isRepeated) {
      return "an answer without an OAuth error, which repeats a secret of the request and is not shown"
    }
    let words = text.isEmpty ? "" : ": '\(text.printable(words: 200))'"
    return "\(named.printable(limit: 60)) without an OAuth error\(words)"
  }

  /// A text without tags, with single blanks for its blanks and line ends.
  private static func words(of text: String) -> String {
    withoutTags(text, instead: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private static func withoutTags(_ text: String, instead: String) -> String {
    var (plain, isTag) = (String.UnicodeScalarView(), false)
    for scalar in text.unicodeScalars {
      if scalar == "<" { isTag = true }
      if !isTag { plain.append(scalar) }
      if scalar == ">", isTag {
        isTag = false
        plain.append(contentsOf: instead.unicodeScalars)
      }
    }
    return String(plain)
  }
}
