// The limits, the weather and the books of the simulated identity provider.

/// The rules of a provider. The limits are the published ones of Entra External ID.
struct ProviderRules {
  /// Requests per second of the tenant.
  var tenantLimit = 200.0
  /// Requests of the tenant that may come at once; nil is those of a second.
  var burst: Double?
  /// Requests from one address in five minutes.
  var addressLimit = 6000
  /// Seconds in the `Retry-After` of a 429.
  var retryAfter: Int64 = 60
  /// Life of an access token in seconds.
  var tokenLife: Int64 = 3600
  /// Seconds from sending a request to its arrival, and from the answer to its arrival.
  var latency = 0.01...0.15
  /// Probability that a request is lost, and that a reply is.
  var loss = 0.0
}

/// The state of a provider.
enum ProviderWeather: Equatable {
  case fine
  /// Connections are refused.
  case away
  /// Requests get no answer.
  case silent
  /// Answers take this many seconds.
  case slow(Double)
  /// Every request is answered with this status, and with `Retry-After` if it is 429.
  case failing(Int)
}

/// Requests that a provider has received, by second.
struct RequestBook {
  private(set) var requests: [UInt32] = []
  private(set) var refusals: [UInt32] = []
  /// Those of processes that had been refused twice in a row.
  private(set) var told: [UInt32] = []

  mutating func note(_ time: Double, isRefused: Bool, isTold: Bool) {
    let second = Int(time)
    while requests.count <= second {
      requests.append(0)
      refusals.append(0)
      told.append(0)
    }
    requests[second] += 1
    if isRefused { refusals[second] += 1 }
    if isTold { told[second] += 1 }
  }
}

/// A bucket that fills at the tenant's rate, and a window of five minutes for each address.
struct RequestLimits {
  private let rules: ProviderRules
  private let burst: Double
  private var level: Double
  private var filledAt = 0.0
  private var addresses: [Int: (window: Int, count: Int)] = [:]

  init(_ rules: ProviderRules) {
    self.rules = rules
    burst = rules.burst ?? rules.tenantLimit
    level = burst
  }

  /// True if a request is within the limits, and counts.
  mutating func admits(address: Int, at time: Double) -> Bool {
    level = min(level + (time - filledAt) * rules.tenantLimit, burst)
    filledAt = time
    var (window, count) = addresses[address] ?? (0, 0)
    if window != Int(time) / 300 { (window, count) = (Int(time) / 300, 0) }
    guard level >= 1, count < rules.addressLimit else { return false }
    level -= 1
    addresses[address] = (window, count + 1)
    return true
  }
}

/// A token of the simulated provider, as its text says it.
struct TokenFacts {
  var client: String
  /// `app`, or a person's id.
  var subject: String
  var scopes: Set<Substring>
  var claims: String
  /// The end of its life, in seconds of the world.
  var end: Double

  /// The text of a token.
  static func text(client: String, subject: String, scopes: String, claims: String, end: Double, number: Int) -> String
  {
    let scopes = scopes.split(separator: " ").joined(separator: ",")
    return "at~\(client)~\(subject)~\(scopes)~\(unquoted(claims))~\(Int(end))~\(number)"
  }

  /// Claims as they are in a token's text, which is part of a JSON text.
  static func unquoted(_ claims: String) -> String { String(claims.map { $0 == "\"" ? "'" : $0 }) }

  init?(_ text: String) {
    let parts = text.split(separator: "~", omittingEmptySubsequences: false)
    guard parts.count == 7, let end = Double(parts[5]) else { return nil }
    client = String(parts[1])
    subject = String(parts[2])
    scopes = Set(parts[3].split(separator: ","))
    claims = String(parts[4])
    self.end = end
  }
}

/// The members of a form.
struct FormMembers {
  private var members: [String: String] = [:]

  init(_ body: [UInt8]) {
    for member in body.split(separator: UInt8(ascii: "&")) {
      let parts = member.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      members[String(decoding: parts[0], as: UTF8.self)] = Self.decoded(parts[1])
    }
  }

  private static func decoded(_ text: ArraySlice<UInt8>) -> String {
    guard text.contains(UInt8(ascii: "%")) else { return String(decoding: text, as: UTF8.self) }
    var bytes: [UInt8] = []
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] == UInt8(ascii: "%"), index + 2 < text.endIndex,
        let byte = UInt8(String(decoding: text[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
      {
        bytes.append(byte)
        index += 3
      } else {
        bytes.append(text[index])
        index += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  subscript(name: String) -> String? { members[name] }
}
