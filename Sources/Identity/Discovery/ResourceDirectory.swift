// What an API says about itself and its providers (RFC 9728): fetched from the API's own origin, and from providers
// that are not at a private address. ProtectedResource judges what comes.

package import Bytes
package import HTTP
package import HTTPClient
package import Tokens

/// The description of one API: fetched when it is first needed, once for all who wait, and kept for an hour. A failure
/// is kept for a minute, so that an API cannot make the proxy ask again and again.
package actor ResourceDirectory {
  private let api: HTTPURL
  private let fetch: Fetch
  private let now: @Sendable () -> UnixTime
  private var known: (result: Result<ProtectedResource?, DiscoveryFault>, at: UnixTime)?
  private var flight: Task<Result<ProtectedResource?, DiscoveryFault>, Never>?

  private static let lifetime: Int64 = 3600
  private static let pause: Int64 = 60

  /// The directory of the API at a URL. `fetch` has the trust and the proxy of the API's route.
  package init(_ api: HTTPURL, fetch: @escaping Fetch, now: @escaping @Sendable () -> UnixTime) {
    self.api = api
    self.fetch = fetch
    self.now = now
  }

  /// The API's description; nil if it has none. `challenge` is the address that its challenge names, if it names one.
  package func description(challenge: String?) async throws(DiscoveryFault) -> ProtectedResource? {
    if let known {
      let lifetime = if case .success = known.result { Self.lifetime } else { Self.pause }
      if (0..<lifetime).contains(now() - known.at) { return try known.result.get() }
    }
    let task =
      flight
      ?? Task { [api, fetch] in
        do throws(DiscoveryFault) {
          return .success(try await Self.description(of: api, challenge: challenge, fetch))
        } catch {
          return .failure(error)
        }
      }
    flight = task
    let result = await task.value
    (known, flight) = ((result, now()), nil)
    return try result.get()
  }

  /// Fetches the description of an API; nil if it has none.
  package static func description(
    of api: HTTPURL, challenge: String?, _ fetch: Fetch
  ) async throws(DiscoveryFault) -> ProtectedResource? {
    for place in try ProtectedResource.places(of: api, challenge: challenge) {
      if let json = try await document(place, fetch) {
        return try ProtectedResource(json: json, of: api, at: place)
      }
    }
    return nil
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
    for place in try ProtectedResource.places(ofProvider: issuer) {
      if let json = try await document(place, fetch, isStranger: isStranger) {
        return try ProtectedResource.provider(issuer, json: json, at: place)
      }
    }
    throw .providerUnknown(issuer)
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
    case 400..<500: return nil
    default: throw .status(response.status, "\(url)")
    }
  }
}
