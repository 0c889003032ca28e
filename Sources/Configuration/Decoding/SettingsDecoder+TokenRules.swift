// The keys of a route's `token` about challenges, callers' own tokens and routes without a token.

import HTTP
import Routing
import Tokens

extension SettingsDecoder {
  /// A route's `token`, if it is a section and not a word.
  mutating func tokenSection(_ route: Section) -> Section? {
    if case .scalar = route[.token]?.content { return nil }
    return section(route, .token)
  }

  mutating func tokenRules(_ section: Section) -> RouteTokenRules {
    let (scopes, word) = (apiScopes(section, .scopesOnChallenge), "discovered")
    return RouteTokenRules(
      scopesOnChallenge: scopes.subtracting(word), discoversScopes: scopes.words.contains(word),
      replayLimit: size(section, .replayLimit).map { UInt64($0) } ?? RouteTokenRules().replayLimit,
      existing: chosen(section, .existing, of: RouteTokenRules.CallerAuthorization.self),
      whenUnavailable: chosen(section, .whenUnavailable, of: RouteTokenRules.WhenUnavailable.self),
      onInteractionRequired: chosen(section, .onInteractionRequired, of: RouteTokenRules.OnInteractionRequired.self))
  }

  /// The parameters that the section adds to its token requests.
  mutating func tokenParameters(_ section: Section, _ application: ApplicationSettings?) -> TokenParameters? {
    guard let first = section.first(of: [.audience, .resource, .parameters]).flatMap({ section[$0] }) else {
      return nil
    }
    if case .scalar("id_jag")? = section[.grant]?.content, let audience = section[.audience] {
      return refuse(
        audience,
        that: "has no meaning with grant: id_jag, whose audience is the server of 'resource_application'")
    }
    let (audience, resource) = (scalar(section, .audience), scalar(section, .resource))
    var isExact = false
    let additional = values(section, .parameters)
    if let application {
      if application.managedIdentity != nil {
        return refuse(
          first, that: "has no meaning with a managed identity, whose service takes a resource alone")
      }
      // AD FS compares identifiers as they are registered.
      if case .adfs = application.authority.value.kind { isExact = true }
      if let resource, application.authority.value.isOfEntra {
        return refuse(
          resource, "\(application.authority.value.url.host) is told the resource by 'scopes': leave it out")
      }
    }
    do throws(TokenParameterError) {
      return try TokenParameters(
        audiences: [audience].compactMap { $0?.text },
        resources: [resource].compactMap { $0?.text }.map { isExact ? $0 : TokenParameters.normalResource($0) },
        additional: additional.mapValues(\.text))
    } catch {
      let (found, reason): (Scalar?, String) =
        switch error {
        case .name(let name):
          (additional[name], "'\(name)' is not a parameter's name of letters, digits, '-', '.', '_'")
        case .reserved(let name):
          (additional[name], "'\(name)' is not for a route to set: other settings decide grant, application and person")
        case .value(let name):
          (additional[name] ?? audience, "the value of '\(name)' is longer than 2048 bytes, or has a control character")
        case .resource: (resource, "'\(resource?.written ?? "")' is not an absolute URI without a fragment (RFC 8707)")
        }
      guard let found else { return refuse(first, reason) }
      return refuse(found, reason)
    }
  }

  /// Scopes of an API, none of which belongs to sign-ins.
  mutating func apiScopes(_ section: Section, _ key: Key) -> ScopeSet {
    let scalars = list(section, key) ?? []
    let reserved = scalars.filter { ScopeSet.reserved.contains($0.text) }
    for scalar in reserved {
      report(scalar, "'\(scalar.written)' is asked for with every sign-in and is no API's scope")
    }
    return scopes(of: scalars)
  }

  /// The scopes of a list; those that are none are reported.
  mutating func scopes(of scalars: [Scalar]) -> ScopeSet {
    var scopes = ScopeSet.none
    for scalar in scalars {
      do throws(ScopeError) {
        scopes = scopes.union(try ScopeSet([scalar.text]))
      } catch {
        report(scalar, "'\(scalar.written)' is not one scope (no blanks, quotes, backslashes): write [a, b]")
      }
    }
    return scopes
  }
}
