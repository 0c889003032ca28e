// Programs that hold their own connections (Kafka clients, Azure's SDKs, Prometheus …) and get tokens for them: which
// program is asking, and which of its tokens it asks for. Nothing that a program sends reaches a provider.

package import Bytes
package import Tokens

/// The way in which a program asks for a token.
package enum ProgramShape: String, Sendable, Hashable, CaseIterable {
  /// OAuth's token endpoint (RFC 6749 §4.4).
  case tokenEndpoint = "token_endpoint"
  /// The managed identity of Azure App Service: `IDENTITY_ENDPOINT` and `IDENTITY_HEADER`.
  case appService = "app_service"
  /// The managed identity of Azure's virtual machines: 169.254.169.254, or `AZURE_POD_IDENTITY_AUTHORITY_HOST`.
  case imds

  /// The same for a program that can show a secret.
  package var withSecret: ProgramShape { self == .imds ? .appService : self }
}

package struct ProgramToken: Sendable {
  /// The route's name, or the application's.
  package let name: String
  /// The position of the route; nil if the token is an application's.
  package let route: Int?
  package let slot: Int
  package let scopes: ScopeSet
  /// The names by which programs ask for it: resources, or scopes.
  package let resources: [String]
  /// The identities for which it is; empty: for programs that name none.
  package let identities: Set<String>
  /// True if it is obtained in exchange for a token of the caller's own.
  package let isForCallers: Bool

  package init(
    name: String, route: Int? = nil, slot: Int, scopes: ScopeSet, resources: [String] = [],
    identities: Set<String> = [], isForCallers: Bool = false
  ) {
    self.name = name
    self.route = route
    self.slot = slot
    self.scopes = scopes
    self.resources = resources.isEmpty ? Self.resources(of: scopes) : resources
    self.identities = identities
    self.isForCallers = isForCallers
  }

  /// The resources that scopes name for sure: those in front of `/.default`.
  package static func resources(of scopes: ScopeSet) -> [String] {
    scopes.words.compactMap { $0.hasSuffix("/.default") ? String($0.dropLast("/.default".count)) : nil }
  }
}

/// A program and the tokens that it may have.
package struct Program: Sendable {
  /// Position among the programs of all listeners; also the index of its metrics.
  package let index: Int
  package let name: String
  package let shape: ProgramShape
  /// Shown by the program; nil for a shape without one.
  let secret: Secret?
  /// Seconds that a token has to live; one with less is renewed first.
  package let leastLife: Int64
  /// At least one.
  package let tokens: [ProgramToken]

  package init(
    index: Int = 0, name: String, shape: ProgramShape, secret: Secret?, leastLife: Int64, tokens: [ProgramToken]
  ) {
    self.index = index
    self.name = name
    self.shape = shape
    self.secret = secret
    self.leastLife = leastLife
    self.tokens = tokens
  }

  /// The token that a request asks for.
  package func token(for wish: ProgramWish) throws(ProgramRefusal) -> ProgramToken {
    var candidates = tokens.filter { $0.identities.isEmpty }
    if let identity = wish.identity {
      candidates = tokens.filter { $0.identities.contains(identity) }
    }
    if candidates.isEmpty { throw .unknownIdentity }
    var chosen = try wish.scope.map { scope throws(ProgramRefusal) in try Self.token(of: scope, among: candidates) }
    // One token is for whatever is named; another one than a client asked for would go to the wrong API.
    for resource in [wish.resource, wish.audience].compactMap({ $0 }) {
      chosen = Self.token(named: resource, among: chosen.map { [$0] } ?? candidates)
      if chosen == nil { throw .unknownResource }
    }
    if let chosen { return chosen }
    if shape != .tokenEndpoint { throw .resourceMissing }
    // A program that asks for a certain kind of token gets the first of that kind.
    guard let token = candidates.first(where: { $0.isForCallers == wish.isExchange }) else { throw .unknownScope }
    return token
  }

  private static func token(
    of scope: String, among tokens: [ProgramToken]
  ) throws(ProgramRefusal) -> ProgramToken {
    if let token = token(named: scope, among: tokens) { return token }
    let words: ScopeSet
    do throws(ScopeError) { words = try ScopeSet(parameter: scope) } catch { throw .unknownScope }
    guard let token = tokens.first(where: { $0.scopes == words }) else { throw .unknownScope }
    return token
  }

  /// The token of a name. Programs spell a resource with and without a slash at its end; a token that has the very
  /// spelling is preferred.
  private static func token(named name: String, among tokens: [ProgramToken]) -> ProgramToken? {
    func spelling(_ text: String) -> Substring { text.hasSuffix("/") ? text.dropLast() : text[...] }
    return tokens.first { $0.resources.contains(name) }
      ?? tokens.first { $0.resources.contains { spelling($0) == spelling(name) } }
  }
}

/// The part of a request that chooses the token.
package struct ProgramWish: Sendable, Hashable {
  package var scope: String?
  package var resource: String?
  /// The value of `audience` (RFC 8693 §2.1): a resource by another name.
  package var audience: String?
  /// The value of the parameter that names an identity.
  package var identity: String?
  /// True if a token of the caller's own is to be exchanged.
  package var isExchange = false

  package init(
    scope: String? = nil, resource: String? = nil, audience: String? = nil, identity: String? = nil
  ) {
    (self.scope, self.resource, self.audience, self.identity) = (scope, resource, audience, identity)
  }
}

package final class ProgramTable: Sendable {
  package let programs: [Program]

  package init(_ programs: [Program]) {
    self.programs = programs
  }

  /// The program of a client id and its secret.
  package func program(client: String, secret: Span<UInt8>) -> Program? {
    programs.first { $0.shape == .tokenEndpoint && $0.name == client && $0.secret?.matches(secret) == true }
  }

  /// The program with this secret. Every secret is compared, so that the time tells nothing of which one it was.
  package func program(identityHeader secret: Span<UInt8>) -> Program? {
    var found: Program?
    for program in programs where program.shape == .appService {
      if program.secret?.matches(secret) == true { found = program }
    }
    return found
  }

  /// The program of the shape without a secret.
  package var imds: Program? { programs.first { $0.shape == .imds } }

  /// True if a program asks in this way.
  package func serves(_ shape: ProgramShape) -> Bool { programs.contains { $0.shape == shape } }
}

/// The reason why a program gets no token.
package enum ProgramRefusal: Error, Sendable, Hashable {
  /// A field that only browsers send.
  case browser
  /// A field of a proxy in between: an address that a program was made to request leads here.
  case forwarded
  /// Nothing is served at this path.
  case nothingHere
  /// No program of this listener asks in this way.
  case shape(ProgramShape)
  case method
  /// Not a form, or a parameter occurs twice.
  case form
  /// `Metadata: true` is missing: the request may be one that a program was made to send.
  case metadata
  /// The version is missing or not supported.
  case version
  /// The secret is missing or wrong.
  case secret
  /// The client id or its secret is wrong, or missing.
  case client
  /// The client shows its secret in two ways.
  case twoSecrets
  case resourceMissing
  case unknownResource
  case unknownIdentity
  case unknownScope
  /// The grant is not one that is given here.
  case grant
  /// `subject_token`, or its type, is missing or not usable.
  case subjectToken
}
