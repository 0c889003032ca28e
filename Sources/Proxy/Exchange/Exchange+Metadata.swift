// The answer to clients that ask whose tokens a listener takes (RFC 9728). It needs no proof of the caller, says the
// same to each, and may be read by pages of every site: it has nothing that a challenge does not tell.

internal import Bytes
internal import HTTP
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry

extension Exchange {
  /// The path of the resource whose description a request asks for, within the request's own; nil for any other
  /// request.
  @inline(never)
  func describedResource() -> ByteRange? {
    guard request.head.method == .get || request.head.method == .head || request.head.method == .options else {
      return nil
    }
    return request.headBytes.withBytes {
      CallerRules.Bearer.describedResource($0.extracting(request.head.target.path))
    }
  }

  @inline(never)
  func answerMetadata(of resource: ByteRange) async -> Bool {
    let callers = facts.listener.callers
    guard let bearer = callers.rules.bearer, let publicURL = bearer.publicURL else {
      preconditionFailure("a listener without a public URL describes nothing")
    }
    guard request.headBytes.withBytes({ callers.isNamed(request.head, $0) }) else {
      return await answer(.caller(.unknownHost), keepsConnection: mayGoOn)
    }
    let table = state.service.table
    let path = request.headBytes.withBytes { bytes in
      let path = bytes.extracting(request.head.target.path).extracting(resource.indices)
      request.route = table.route(at: path, host: Array(publicURL.host.utf8).span)
      return path.text
    }
    request.record.route = request.route?.index
    guard request.route != nil || path.isEmpty else { return await answer(.noRoute, keepsConnection: mayGoOn) }
    if request.head.method == .options { return await answerMetadataPreflight() }
    guard let issuer = await facts.listener.tokenCheck?.issuerName() else {
      return await answer(.callerIssuerUnavailable, keepsConnection: mayGoOn)
    }
    let document = bearer.metadata(of: path, at: publicURL, issuer: issuer, name: request.route?.name)
    let fields: [(name: StaticString, value: String)] = [
      ("Content-Type", "application/json"), ("Cache-Control", "public, max-age=3600"),
      ("Access-Control-Allow-Origin", "*"),
    ]
    return await answer(ProxyResponse(status: 200, fields: fields, body: document), keepsConnection: mayGoOn)
  }

  /// Clients in browsers name their version of the protocol in a field, which asks for a preflight.
  private func answerMetadataPreflight() async -> Bool {
    beginAnswer(204)
    writeDate()
    buffers.output.append(
      "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: GET, HEAD\r\nAccess-Control-Allow-Headers: *\r\n"
    )
    buffers.output.append("Access-Control-Max-Age: 600\r\n")
    writeEnd(keepsConnection: mayGoOn)
    return await deliver() && mayGoOn
  }
}
