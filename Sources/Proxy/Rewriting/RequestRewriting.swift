internal import Bytes
internal import HTTP
internal import Identity
internal import Routing

/// Renders request heads for upstreams: the caller's fields that are passed on, and this hop's own.
enum RequestRewriting {
  /// Appends the upstream's request head to `output`. `X-Forwarded-Host` and `X-Forwarded-Proto` have this hop's
  /// values, whatever the caller sent; `X-Forwarded-For`, `Forwarded` and `Via` grow by one element.
  static func write(
    _ request: RequestContext, to route: Route, from ingress: Ingress, as hop: HopIdentity,
    into output: inout ByteBuffer
  ) {
    write(
      request.head, request.headBytes, path: request.path, identity: request.identity, request.admitted,
      route, ingress, hop, replacesAuthorization: request.credential.replacesCallers,
      fixedField: request.credential.bearer?.otherField == nil ? nil : route.fixedCredential?.name, &output)
    request.credential.bearer?.writeField(into: &output)
    HeadWriter.end(notice(request), for: .http11, into: &output)
  }

  private static func notice(_ request: RequestContext) -> ConnectionNotice {
    if request.admitted.asksForWebSocket { return .webSocket }
    if !request.head.fields.contains(.te) { return .kept }
    return request.headBytes.withBytes { HopByHop.acceptsTrailers(request.head.fields, in: $0) }
      ? .trailersAccepted : .kept
  }

  /// Writes everything but the credential and the end.
  private static func write(
    _ head: borrowing RequestHead, _ input: borrowing ByteBuffer, path: borrowing ByteBuffer,
    identity: borrowing ByteBuffer, _ admitted: AdmittedRequest, _ route: Route, _ ingress: Ingress,
    _ hop: HopIdentity, replacesAuthorization: Bool, fixedField: RouteFieldName?, _ output: inout ByteBuffer
  ) {
    let bytes = input.bytes
    HeadWriter.method(bytes.extracting(head.methodName), into: &output)
    if admitted.usesNormalPath {
      route.appendUpstreamPath(for: path.bytes, to: &output)
    } else {
      route.appendUpstreamPath(for: bytes.extracting(head.target.path), to: &output)
    }
    if head.target.hasQuery {
      output.append(UInt8(ascii: "?"))
      output.append(bytes.extracting(head.target.query))
    }
    // An HTTP/1.0 request may name no host; the upstream's is better than none.
    if route.preservesHost, !head.authority.isEmpty {
      HeadWriter.requestLineEnd(into: &output)
      HeadWriter.field("Host", bytes.extracting(head.authority), into: &output)
    } else {
      output.append(route.upstreamLines)
    }
    let isTraceNew =
      head.fields.contains(.tracestate) && !(hop.propagatesTrace && RequestIdentity.takesTraceOver(head, bytes))
    var hasSignInCookie = false
    let (choice, requestFields) = (route.choice, route.requestFields)
    var run = FieldRun()
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      // The vendors' state of a trace has no meaning in another one (W3C Trace Context §3.3.1).
      if line.known == .tracestate, isTraceNew { continue }
      if ingress.rules.consumes(line, bytes) { continue }
      if let choice, choice.consumes(line, bytes) { continue }
      if let fixedField, fixedField.matches(line, bytes) { continue }
      if let requestFields, requestFields.consumes(line, bytes) { continue }
      if passes(line, head, replacesAuthorization: replacesAuthorization),
        HopByHop.forwards(line, head.connection, in: bytes)
      {
        if line.known == .cookie, SignInCookie.occurs(in: bytes.extracting(line.value)) {
          hasSignInCookie = true
          continue
        }
        run.add(line, from: bytes, into: &output)
      }
    }
    run.finish(from: bytes, into: &output)
    if let requestFields { output.append(requestFields.lines) }
    if hasSignInCookie { writeOtherCookies(head, bytes, into: &output) }
    if admitted.framing == .chunked { HeadWriter.chunkedCoding(into: &output) }
    if head.method == .options, case .left(let count) = MaxForwards.of(head, bytes) {
      HeadWriter.field("Max-Forwards", decimal: UInt64(count), into: &output)
    }
    let host = bytes.extracting(head.authority)
    ingress.forwardedPeer.writeXForwarded(head.fields, in: bytes, into: &output)
    if !host.isEmpty { HeadWriter.field("X-Forwarded-Host", host, into: &output) }
    ingress.forwardedPeer.writeForwarded(host: host, head.fields, in: bytes, into: &output)
    PassedHops.writeVia(head, bytes, hop.pseudonym, into: &output)
    PassedHops.writeCDNLoop(head, bytes, hop.pseudonym, into: &output)
    HeadWriter.field("X-Request-ID", RequestIdentity.requestID(identity.bytes), into: &output)
    if hop.propagatesTrace {
      HeadWriter.field("traceparent", RequestIdentity.traceparent(identity.bytes), into: &output)
    }
  }

  /// Writes the cookie fields that have a cookie of the sign-in pages, without it.
  @inline(never)
  private static func writeOtherCookies(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, into output: inout ByteBuffer
  ) {
    for index in 0..<head.fields.count where head.fields[index].known == .cookie {
      let value = bytes.extracting(head.fields[index].value)
      if SignInCookie.occurs(in: value) { SignInCookie.writeOthers(of: value, into: &output) }
    }
  }

  /// True if the caller's line is passed on unchanged; others are written anew or dropped.
  private static func passes(
    _ line: FieldLine, _ head: borrowing RequestHead, replacesAuthorization: Bool
  ) -> Bool {
    switch line.known {
    case .host, .via, .forwarded, .xForwardedFor, .xForwardedProto, .xForwardedHost, .xRequestID, .traceparent: false
    case .authorization: !replacesAuthorization
    // An HTTP/1.0 caller knows no 100, and its expectation is to be ignored (RFC 9110 §10.1.1).
    case .expect: head.version.hasInterimResponses
    // Counted down for OPTIONS (RFC 9110 §7.6.2).
    case .maxForwards: head.method != .options
    case .cdnLoop: false
    default: !TargetOverride.names.contains(line.known)
    }
  }
}
