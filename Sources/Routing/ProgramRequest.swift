// A program's request for a token, read from its head and its form. Each shape has its path, its fields and its names
// of parameters.

package import Bytes
package import HTTP
internal import Tokens

/// The target of a request at a listener for programs.
package enum ProgramEndpoint: Sendable, Hashable {
  case token(ProgramShape)
  /// The metadata of the token endpoint (RFC 8414).
  case metadata

  package static let tokenPath: StaticString = "/oauth2/token"
  package static let identityPath: StaticString = "/msi/token"
  private static let imdsPath: StaticString = "/metadata/identity/oauth2/token"
  private static let metadataPath: StaticString = "/.well-known/oauth-authorization-server"

  /// Reads a head and its framing. The path is compared as it was sent.
  package init(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ programs: ProgramTable
  ) throws(ProgramRefusal) {
    if BrowserRequest.isBehind(head, bytes) { throw .browser }
    let path = bytes.extracting(head.target.path)
    let shape: ProgramShape
    if path.equalsIgnoringCase(Self.tokenPath) {
      shape = .tokenEndpoint
    } else if path.equalsIgnoringCase(Self.identityPath) {
      shape = .appService
    } else if path.equalsIgnoringCase(Self.imdsPath) {
      shape = .imds
    } else if path.equalsIgnoringCase(Self.metadataPath), programs.serves(.tokenEndpoint) {
      guard head.method == .get || head.method == .head else { throw .method }
      self = .metadata
      return
    } else {
      throw .nothingHere
    }
    // Envoy's own client sends the field to a token endpoint, which demands a secret anyway.
    if shape != .tokenEndpoint, head.fields.contains(.xForwardedFor) || head.fields.contains(.forwarded) {
      throw .forwarded
    }
    guard programs.serves(shape) else { throw .shape(shape) }
    guard head.method == (shape == .tokenEndpoint ? .post : .get) else { throw .method }
    self = .token(shape)
  }
}

/// A request for a token: who asks, and for which one.
package struct ProgramRequest: Sendable {
  package let program: Program
  package let wish: ProgramWish
  /// The token of the caller's own that is to be exchanged; nil if none is.
  package let subjectToken: Secret?

  /// Bytes that a form may have.
  package static let formLimit: UInt64 = 64 << 10

  private static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
  private static let tokenTypes: Set<String?> = [
    "urn:ietf:params:oauth:token-type:access_token", "urn:ietf:params:oauth:token-type:jwt", nil,
  ]

  /// Reads a request. `form`: its content, for the shape that has one.
  package init(
    _ shape: ProgramShape, _ head: borrowing RequestHead, _ bytes: Span<UInt8>, form: [UInt8], _ programs: ProgramTable
  ) throws(ProgramRefusal) {
    let text = shape == .tokenEndpoint ? form : bytes.extracting(head.target.query).array
    let members: ReplyForm
    do throws(ReplyForm.Problem) { members = try ReplyForm(text) } catch { throw .form }
    switch shape {
    case .tokenEndpoint:
      program = try Self.client(head, bytes, members, programs)
      (wish, subjectToken) = try Self.grant(members, program)
    case .appService:
      // Microsoft's own has a field for each: msal sends both.
      guard let secret = Self.only("x-identity-header", head, bytes),
        let found = programs.program(identityHeader: bytes.extracting(secret))
      else { throw .secret }
      program = found
      wish = try Self.wish(members, since: "2019-08-01", resourceID: "mi_res_id")
      subjectToken = nil
    case .imds:
      guard let value = Self.only("metadata", head, bytes), bytes.extracting(value).equalsIgnoringCase("true") else {
        throw .metadata
      }
      guard let found = programs.imds else { throw .shape(.imds) }
      program = found
      wish = try Self.wish(members, since: "2018-02-01", resourceID: "msi_res_id")
      subjectToken = nil
    }
  }

  /// The client (RFC 6749 §2.3.1), by Basic or by the form, and not by both.
  private static func client(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ form: ReplyForm, _ programs: ProgramTable
  ) throws(ProgramRefusal) -> Program {
    guard head.fields.contains(.authorization) else {
      guard let id = form["client_id"], let secret = form["client_secret"],
        let program = programs.program(client: id, secret: secret.utf8Span.span)
      else { throw .client }
      return program
    }
    if form["client_secret"] != nil { throw .twoSecrets }
    guard let line = head.fields.first(.authorization), head.fields.count(of: .authorization) == 1,
      bytes.extracting(line.value).startsIgnoringCase(with: "basic "),
      let pair = Base64.decode(bytes.extracting(line.value).extracting(droppingFirst: 6).text),
      let colon = pair.firstIndex(of: UInt8(ascii: ":"))
    else { throw .client }
    let (id, secret) = (pair[..<colon], pair[(colon + 1)...])
    // Most programs send both as they are, some encode them first, as RFC 6749 §2.3.1 says.
    let plain = programs.program(client: String(decoding: id, as: UTF8.self), secret: Array(secret).span)
    let encoded = PercentEncoding.decoded(id, isForm: true).flatMap { id in
      PercentEncoding.decoded(secret, isForm: true).flatMap {
        programs.program(client: String(decoding: id, as: UTF8.self), secret: $0.span)
      }
    }
    guard let program = plain ?? encoded else { throw .client }
    if let named = form["client_id"], named != program.name { throw .client }
    return program
  }

  private static func grant(
    _ form: ReplyForm, _ program: Program
  ) throws(ProgramRefusal) -> (ProgramWish, Secret?) {
    // RFC 8707 names the API by `resource`, RFC 8693 by `audience` too; each is enough without a scope.
    var wish = ProgramWish(scope: form["scope"], resource: form["resource"], audience: form["audience"])
    switch form["grant_type"] {
    case "client_credentials"?:
      let token = try program.token(for: wish)
      if token.isForCallers { throw .grant }
      return (wish, nil)
    case exchange?:
      wish.isExchange = true
      let token = try program.token(for: wish)
      guard token.isForCallers else { throw .grant }
      guard let subject = form["subject_token"], form["subject_token_type"] != nil,
        tokenTypes.contains(form["subject_token_type"]), form["actor_token"] == nil,
        tokenTypes.contains(form["requested_token_type"])
      else { throw .subjectToken }
      return (wish, Secret(subject))
    case nil: throw .form
    default: throw .grant
    }
  }

  /// The query of a managed identity's endpoint. A later version than the one that is known has the same members.
  private static func wish(
    _ query: ReplyForm, since version: String, resourceID: String
  ) throws(ProgramRefusal) -> ProgramWish {
    guard let asked = query["api-version"], isDate(asked), asked >= version else { throw .version }
    let identities = ["client_id", "object_id", "principal_id", "mi_res_id", "msi_res_id"].compactMap { query[$0] }
    if identities.count > 1 { throw .unknownIdentity }
    return ProgramWish(resource: query["resource"], identity: identities.first)
  }

  /// True for `2019-08-01`, and for a preview's version.
  private static func isDate(_ text: String) -> Bool {
    let date = text.utf8.prefix(10)
    return date.count == 10
      && date.enumerated().allSatisfy { index, byte in
        index == 4 || index == 7 ? byte == UInt8(ascii: "-") : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
  }

  /// The value of a field that occurs once.
  private static func only(_ name: StaticString, _ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> ByteRange? {
    let (value, count) = head.fields.values(named: name, in: bytes)
    return count == 1 ? value : nil
  }
}
