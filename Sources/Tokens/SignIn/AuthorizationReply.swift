// Owns the reading of what a browser brings back from an authorization endpoint. Nothing of it is believed before its
// state.

package import Bytes

/// Why a browser's answer has no code.
public enum AuthorizationReplyError: Error, Sendable, Hashable {
  /// Not a form, or a member stands there twice.
  case malformed
  /// The state is not this sign-in's: the answer to another or an older one.
  case state
  /// The answer says that it comes from another issuer (RFC 9207): two providers are being mixed up.
  case issuer
  /// The answer does not say which issuer it comes from, although this one's always do (RFC 9207 §2.4).
  case issuerMissing
  /// The provider's error. Of its members only these are handed on: the error, its description and what that begins
  /// with.
  case refused(TokenErrorReply)
  /// Neither a code nor an error.
  case withoutCode
}

/// A code that a browser brought (RFC 6749 §4.1.2).
package struct AuthorizationReply: Sendable {
  /// Good for one token request.
  package let code: Secret

  /// Reads a redirect's query or a posted form.
  /// - Parameters:
  ///   - state: the one that was sent.
  ///   - issuer: what the answer has to say of its issuer.
  package init(form text: [UInt8], state: String, issuer: ReplyIssuer) throws(AuthorizationReplyError) {
    let form: ReplyForm
    do throws(ReplyForm.Problem) {
      form = try ReplyForm(text)
    } catch {
      throw .malformed
    }
    guard let found = form["state"], Secret(found) == Secret(state) else { throw .state }
    do throws(ReplyIssuer.Problem) {
      try issuer.check(form["iss"])
    } catch {
      switch error {
      case .other: throw .issuer
      case .missing: throw .issuerMissing
      }
    }
    if let error = form["error"] {
      throw .refused(TokenErrorReply(error: error, description: form["error_description"]))
    }
    guard let code = form["code"] else { throw .withoutCode }
    self.code = Secret(code)
  }
}

extension TokenErrorReply {
  /// An error that came by a browser, bounded and printable as those of token endpoints are.
  fileprivate init(error: String, description: String?) {
    var members = ["error": JSONValue.string(error)]
    members["error_description"] = description.map(JSONValue.string)
    self = TokenErrorReply(members: members, sent: .none) ?? TokenErrorReply(error: "unknown", suberror: nil)
  }
}
