// The upstream's response fields that callers do not get unchanged: references into the upstream's own space become the
// proxy's, and a field that repeats the token is left out.

internal import Bytes
internal import HTTP
internal import Routing

/// The treatment of one field line of a response, as far as the route decides it.
enum ResponseFieldRule: Sendable, Equatable {
  case pass
  case drop
  /// Its value is a reference to the upstream's own space, and becomes one to the route's.
  case relocate(Relocation)
  /// It is a challenge that names the upstream's metadata, which it loses.
  case hideMetadata

  /// Decides about a line of an answer to a request that carried `credential`.
  init(
    _ line: FieldLine, _ bytes: Span<UInt8>, route: Route, caller: CallerAddress,
    credential: borrowing RequestCredential
  ) {
    if credential.isRepeated(by: line, bytes) {
      self = .drop
      return
    }
    switch line.known {
    case .location, .contentLocation:
      let value = bytes.extracting(line.value)
      if let place = Relocation(of: value, route: route, caller: caller) {
        self = .relocate(place)
      } else {
        self = .pass
      }
    case .wwwAuthenticate where credential.hidesMetadata(in: line, bytes): self = .hideMetadata
    default: self = .pass
    }
  }
}

extension RequestCredential {
  /// True if a challenge names the upstream's metadata (RFC 9728) to a caller whose own token the upstream never sees:
  /// the caller's client would get another token at the upstream's provider, and the same challenge again.
  func hidesMetadata(in line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    replacesCallers && RelayedChallenge.namesMetadata(bytes.extracting(line.value))
  }
}

/// Fields by which a server controls its origin.
enum OriginClaim {
  /// Cookies are confined to their route, the others are left out: clearing caches and cookies, requiring TLS, other
  /// places and reports for the origin, a worker's scope, hints with every request, sign-in state, sessions bound to a
  /// device, a dictionary for later answers, the agents that documents share, cookies in pages of other sites. An
  /// upstream means its own origin, which browsers never see.
  static var names: FieldNameSet {
    FieldNameSet(.setCookie).with(.serviceWorkerAllowed).with(.clearSiteData).with(.strictTransportSecurity)
      .with(.altSvc).with(.nel).with(.reportTo).with(.reportingEndpoints).with(.acceptCH).with(.setLogin)
      .with(.secureSessionRegistration).with(.secureSessionChallenge).with(.secSessionRegistration)
      .with(.secSessionChallenge).with(.criticalCH).with(.useAsDictionary).with(.originAgentCluster)
      .with(.activateStorageAccess)
  }

  /// Writes such a line for callers, if anything.
  @inline(never)
  static func write(
    _ line: FieldLine, _ bytes: Span<UInt8>, route: Route, credential: borrowing RequestCredential,
    into output: inout ByteBuffer
  ) {
    guard line.known == .setCookie, !credential.isRepeated(by: line, bytes) else { return }
    UpstreamCookie.write(bytes.extracting(line.value), route: route, into: &output)
  }
}
