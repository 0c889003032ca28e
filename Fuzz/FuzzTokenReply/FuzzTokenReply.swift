// Feeds arbitrary bytes to the readers of what providers answer: token replies, device codes, metadata, and the JSON
// below them. What must hold: nothing traps, a token that is believed can be carried in a field, nothing said to a
// person or a log obeys a terminal, and a JSON value that is written and read again is the same.

import Bytes
import HTTP
import Tokens

private let now = UnixTime(1_800_000_000)
private let authority = try? Authority("https://id.example/realm")
private let requested = try? ScopeSet(["api://orders/Read", "b"])

/// One input of libFuzzer: a byte that chooses the status, then the body.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTokenReply(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 0, let authority, let requested else { return 0 }
  let body = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
  let status = [200, 400, 401, 403, 429, 500, 503, 302][Int(data[0] & 7)]
  checkJSON(body)
  do throws(TokenFailure) {
    check(
      try TokenReply(ProviderAnswer(status: status, retryAfter: "5", body: body), sent: .none, now: now), authority,
      requested)
  } catch {
    if case .refused(let reply) = error.cause { check(reply) }
  }
  do throws(TokenFailure) {
    let reply = try DeviceAuthorizationReply(ProviderAnswer(status: status, body: body), sent: .none, now: now)
    precondition(reply.interval > 0 && reply.expiresIn > 0)
    precondition(isPrintable(reply.userCode) && isPrintable(reply.verificationURI))
  } catch {
    if case .refused(let reply) = error.cause { check(reply) }
  }
  do throws(TokenFailure) {
    let reply = try ProviderAnswer(status: status, body: body).requestURI(sent: .none, now: now)
    precondition(!reply.isEmpty && isPrintable(reply))
  } catch {
    if case .refused(let reply) = error.cause { check(reply) }
  }
  do throws(ProviderMetadataError) {
    _ = try ProviderMetadata(json: body, authority: authority)
  } catch {}
  let token = Secret("e30.\(Base64URL.encode(body)).x")
  precondition(TokenBinding.allows(token, showing: nil) == (TokenBinding.certificate(of: token) == nil))
  return 0
}

private func check(_ reply: TokenReply, _ authority: Authority, _ requested: ScopeSet) {
  let token = reply.accessToken.revealed()
  precondition(
    !token.isEmpty && token.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a token that no field can carry")
  precondition(reply.expiresIn > 0 && reply.refreshIn.map { $0 < reply.expiresIn } ?? true)
  let lifetime = TokenLifetime(expiresIn: reply.expiresIn, refreshIn: reply.refreshIn, now: now, jitter: 0.5)
  precondition(lifetime.refreshAt >= now && lifetime.refreshAt <= lifetime.expiresAt)
  precondition(lifetime.freshness(at: now) != .expired)
  // An accepted token is filed, found, and survives being written.
  var document = CacheDocument()
  let issued = IssuedTokens(
    reply, clientID: "client", environment: "id.example", realm: "realm", grantType: "authorization_code",
    requested: requested)
  guard document.add(issued, now: now) else { return }
  do throws(CacheDocumentError) {
    let again = try CacheDocument(text: document.text())
    precondition(again.text() == document.text(), "a cache changes by being written")
  } catch {
    preconditionFailure("a cache that was written is no cache: \(error)")
  }
}

private func check(_ reply: TokenErrorReply) {
  for text in [reply.error, reply.suberror, reply.description, reply.correlationID].compactMap({ $0 }) {
    precondition(isPrintable(text), "a text that a terminal obeys")
    precondition(text.unicodeScalars.count <= 300)
  }
}

private func isPrintable(_ text: String) -> Bool {
  text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
}

private func checkJSON(_ body: [UInt8]) {
  do throws(JSONTextError) {
    let value = try JSONValue(text: body)
    let again = try JSONValue(text: Array(value.canonicalText().utf8))
    precondition(again == value, "\(value) but written and read \(again)")
  } catch {
    let lines = body.split(separator: 0x0A, omittingEmptySubsequences: false)
    precondition((1...lines.count).contains(error.line), "line \(error.line) of \(lines.count)")
    precondition((1...lines[error.line - 1].count + 1).contains(error.column), "column \(error.column)")
  }
}
