// Feeds arbitrary tokens to the reader and the rules of JWTs. What must hold: nothing traps, what was read is signed
// over the bytes that were sent, whatever the clock says and the claims are, and nothing is believed whose signature is
// not.

import Bytes
import HTTP
import Tokens

private let authorities = ["https://login.microsoftonline.com/common", "https://id.example/realm"]
  .compactMap { try? Authority($0) }

/// One input of libFuzzer: a compact serialisation or, if there is a line end, the header and the claims it is made
/// of.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzIDToken(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  let lines = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false).map(Array.init)
  let text =
    lines.count == 2
    ? "\(Base64URL.encode(lines[0])).\(Base64URL.encode(lines[1])).c2ln" : String(decoding: bytes, as: UTF8.self)
  _ = AccountIdentity(clientInfo: text, idToken: text)
  _ = JWKSet(json: bytes)
  do throws(JWTRefusal) {
    let token = try SignedJWT(text)
    precondition(text.utf8.starts(with: token.signingInput), "other bytes than those that were sent")
    for seconds in [Int64.min, 0, 1_800_000_000, .max] { judge(token, UnixTime(seconds)) }
  } catch {}
  return 0
}

private func judge(_ token: SignedJWT, _ now: UnixTime) {
  for authority in authorities {
    for maxAge in [nil, 0, Int64.max] {
      let rule = IDTokenValidation(
        issuer: "https://login.microsoftonline.com/{tenantid}/v2.0", authority: authority, clientID: "c", nonce: "n",
        maxAge: maxAge)
      for verdict in [SignatureVerdict.valid, .invalid, .unknownKey] {
        do throws(JWTRefusal) {
          let claims = try rule.accept(token, now: now) { _, _ in verdict }
          precondition(verdict == .valid && token.header.alg != "none", "believed without a signature")
          precondition(claims.audiences.contains("c") && claims.nonce == "n")
          precondition(claims.issuer?.contains("{") == false, "an issuer with a hole")
        } catch {}
      }
    }
  }
}
