package import Bytes
package import HTTP
package import HTTPClient
package import Tokens

/// The description of one API (RFC 9728): fetched when it is first needed, once for all who wait, and kept for an hour.
/// That there is none, or a fault, is remembered for a minute. A challenge that names another address is tried at once,
/// but for a few such addresses only, so that an API cannot make the proxy ask again and again.
package actor ResourceDirectory {
  private typealias Outcome = Result<ProtectedResource?, DiscoveryFault>

  private let api: HTTPURL
  private let fetch: Fetch
  private let now: @Sendable () -> UnixTime
  private var known: (description: ProtectedResource, at: UnixTime)?
  /// The challenges' addresses that led to no description, and when the first of them did.
  private var misses: (outcomes: [(challenge: String?, outcome: Outcome)], since: UnixTime) = ([], UnixTime(0))
  private var flight: (challenge: String?, task: Task<Outcome, Never>)?

  private static let lifetime: Int64 = 3600
  private static let pause: Int64 = 60
  /// Addresses that are tried within one pause.
  private static let addressLimit = 4

  /// The directory of the API at a URL. `fetch` has the trust and the proxy of the API's route.
  package init(_ api: HTTPURL, fetch: @escaping Fetch, now: @escaping @Sendable () -> UnixTime) {
    self.api = api
    self.fetch = fetch
    self.now = now
  }

  /// The API's description; nil if it has none. `challenge` is the address that its challenge names, if it names one.
  package func description(challenge: String?) async throws(DiscoveryFault) -> ProtectedResource? {
    while true {
      if let outcome = remembered(challenge) { return try outcome.get() }
      if let flight, flight.challenge != challenge {
        _ = await flight.task.value
        continue
      }
      let task = flight?.task ?? Task { await self.outcome(challenge) }
      flight = (challenge, task)
      return try await task.value.get()
    }
  }

  private func remembered(_ challenge: String?) -> Outcome? {
    if let known, (0..<Self.lifetime).contains(now() - known.at) { return .success(known.description) }
    guard let last = misses.outcomes.last, (0..<Self.pause).contains(now() - misses.since) else { return nil }
    if let same = misses.outcomes.first(where: { $0.challenge == challenge }) { return same.outcome }
    return challenge != nil && misses.outcomes.count < Self.addressLimit ? nil : last.outcome
  }

  private func outcome(_ challenge: String?) async -> Outcome {
    let outcome: Outcome = await Result(awaiting: try await Self.description(of: api, challenge: challenge, fetch))
    flight = nil
    if case .success(let description?) = outcome {
      known = (description, now())
      misses.outcomes = []
    } else {
      if !(0..<Self.pause).contains(now() - misses.since) { misses = ([], now()) }
      misses.outcomes.append((challenge, outcome))
    }
    return outcome
  }

  /// Fetches the description of an API; nil if it has none.
  package static func description(
    of api: HTTPURL, challenge: String?, _ fetch: Fetch
  ) async throws(DiscoveryFault) -> ProtectedResource? {
    try await first(of: try ProtectedResource.places(of: api, challenge: challenge), fetch) {
      (json, place) throws(DiscoveryFault) in
      try ProtectedResource(json: json, of: api, at: place)
    }
  }

  /// The challenge with which an API refuses a request without a token; nil if it does not, or not in a usable way.
  package static func challenge(of api: HTTPURL, _ fetch: Fetch) async throws(DiscoveryFault) -> BearerChallenge? {
    var request = FetchRequest(.get, api, fields: [("accept", "application/json, text/event-stream")])
    request.bodyLimit = ProtectedResource.limit
    let response: FetchResponse
    do throws(FetchError) {
      response = try await fetch(request)
    } catch {
      // A stream of events has no end. What it says without a token needs none.
      switch error {
      case .tooLarge, .timedOut: return nil
      default: throw .unreached(error.detail)
      }
    }
    guard response.status == 401 || response.status == 403 else { return nil }
    var list = AuthenticationChallengeList()
    for field in response.fields where field.name == "www-authenticate" { list.read(Array(field.value.utf8).span) }
    guard case .usable(let challenge) = BearerChallengeReading(list) else { return nil }
    return challenge
  }

  /// Fetches the metadata of a provider that an API names.
  /// - Parameter isStranger: true if the configuration does not have it. Then it may be at no private address.
  package static func provider(
    _ issuer: String, isStranger: Bool, _ fetch: Fetch
  ) async throws(DiscoveryFault) -> (metadata: ProviderMetadata, members: [String: JSONValue]) {
    let places = try ProtectedResource.places(ofProvider: issuer)
    let found = try await first(of: places, fetch, areStrangers: isStranger) {
      (json, place) throws(DiscoveryFault) in
      try ProtectedResource.provider(issuer, json: json, at: place)
    }
    guard let found else { throw .providerUnknown(issuer) }
    return found
  }

  /// Reads the first document; nil if there is none. A server may answer for places that it does not know with a
  /// redirect, an error or a page: the next ones are tried, and if none has a document, the first fault is thrown.
  private static func first<Value>(
    of places: [HTTPURL], _ fetch: Fetch, areStrangers: Bool = false,
    read: ([UInt8], HTTPURL) throws(DiscoveryFault) -> Value
  ) async throws(DiscoveryFault) -> Value? {
    var fault: DiscoveryFault?
    for place in places {
      do throws(DiscoveryFault) {
        if let json = try await document(place, fetch, isStranger: areStrangers) { return try read(json, place) }
      } catch {
        switch error {
        case .redirect, .status, .notJSON: fault = fault ?? error
        default: throw fault ?? error
        }
      }
    }
    if let fault { throw fault }
    return nil
  }

  /// A document; nil if there is none.
  private static func document(
    _ url: HTTPURL, _ fetch: Fetch, isStranger: Bool = false
  ) async throws(DiscoveryFault) -> [UInt8]? {
    var request = FetchRequest(.get, url)
    request.bodyLimit = ProtectedResource.limit
    request.refusesPrivateAddresses = isStranger
    let response: FetchResponse
    do throws(FetchError) {
      response = try await fetch(request)
    } catch {
      if case .tooLarge = error { throw .tooLarge("\(url)") }
      throw .unreached(error.detail)
    }
    switch response.status {
    case 200: return response.body
    case 300..<400: throw .redirect("\(url)")
    case 404, 410: return nil
    default: throw .status(response.status, "\(url)")
    }
  }
}
