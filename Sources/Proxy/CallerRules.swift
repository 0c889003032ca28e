// Owns the rules by which a listener tells its callers from others: a process, a certificate, a secret in a field, a token of the
// caller's own, the sites whose pages may call. Each is decided here; what a caller shows is found out by the connection.

public import Bytes
internal import HTTP
package import Identity
internal import Platform
internal import Tokens

/// Who may call, beyond what the names of a listener say. Every rule that is there must hold.
public struct CallerRules: Sendable {
  /// A field that carries a secret.
  public struct Header: Sendable {
    let name: [UInt8]
    let value: Secret

    /// A field by its name, and the value that it must have.
    public init(name: String, value: Secret) {
      self.name = Array(name.utf8)
      self.value = value
    }
  }

  /// The users and groups as one of which a caller's process must run; nil where that does not matter.
  public var peers: (users: Set<UInt32>, groups: Set<UInt32>)?
  /// Subjects and alternative names, one of which a caller's certificate must have; nil where that does not matter.
  public var certificateNames: Set<String>?
  /// The field that must be there once.
  public var header: Header?
  /// Judges the caller's own bearer token; nil where there need be none.
  package var bearer: CallerTokenCheck?
  /// Origins of other sites whose pages may call, in lower case.
  public var origins: [[UInt8]]
  /// Whether a request that a browser marks as made by another site is refused.
  public var refusesCrossSite: Bool

  /// No rule but the browsers'.
  public init(refusesCrossSite: Bool = true, origins: Set<String> = []) {
    self.refusesCrossSite = refusesCrossSite
    self.origins = origins.map { Array($0.utf8) }
  }

  /// Whether there is a rule that tells one caller from another.
  var tellCallersApart: Bool { peers != nil || header != nil || certificateNames != nil || bearer != nil }

  /// Judges what a connection shows before any request: the process at the other end of a unix socket, and the names in the
  /// certificate that TLS has verified.
  func judge(peer: PeerCredentials?, certificateNames names: [String]) -> CallerRefusal? {
    if let peers {
      guard let peer, peers.users.contains(peer.user) || peers.groups.contains(peer.group) else { return .unknownPeer }
    }
    if let certificateNames, !certificateNames.isEmpty, certificateNames.isDisjoint(with: names) {
      return .unknownCertificate
    }
    return nil
  }

  /// Judges the field with the secret. It must be there exactly once: of two, another reader might take the other one.
  func judgeHeader(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> CallerRefusal? {
    guard let header else { return nil }
    var found = 0
    var isRight = false
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      guard line.known == .other, bytes.extracting(line.name).equalsIgnoringCase(header.name.span) else { continue }
      found += 1
      isRight = constantTimeEqual(bytes.extracting(line.value), header.value.bytes)
    }
    return found == 1 && isRight ? nil : .missingSecret
  }

  /// The token of the one `Authorization` field, where its scheme is `Bearer` (RFC 6750 §2.1).
  static func token(in head: borrowing RequestHead, _ bytes: Span<UInt8>) -> String? {
    guard head.fields.count(of: .authorization) == 1, let line = head.fields.first(.authorization) else { return nil }
    let text = bytes.extracting(line.value).text
    guard text.prefix(7).lowercased() == "bearer " else { return nil }
    return String(text.dropFirst(7))
  }

  /// Whether a line proves who calls, so that it is nobody else's business and stays here.
  func consumes(_ line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    if bearer != nil, line.known == .authorization { return true }
    guard let header, line.known == .other else { return false }
    return bytes.extracting(line.name).equalsIgnoringCase(header.name.span)
  }

  /// Whether a page of this origin may call.
  func allows(origin: Span<UInt8>) -> Bool {
    for allowed in origins where origin.equalsIgnoringCase(allowed.span) { return true }
    return false
  }
}
