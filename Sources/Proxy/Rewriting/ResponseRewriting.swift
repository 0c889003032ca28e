internal import Bytes
internal import HTTP
internal import Routing

/// The framing of a response for the caller, and the end of the caller's connection.
struct ResponsePlan: Equatable {
  var framing: BodyFraming
  var writesChunks: Bool
  var closes: Bool

  /// Plans the response. Content that ends with the upstream's connection is chunked for HTTP/1.1, so that a caller can
  /// tell its end from a broken connection; an HTTP/1.0 caller gets the end of the connection instead.
  init(
    framing: BodyFraming, version: HTTPVersion, request: Persistence = .keepAlive, isRead: Bool = true,
    isEnding: Bool = false
  ) {
    self.framing = framing
    let hasLength =
      switch framing {
      case .none, .fixed: true
      case .chunked, .untilClose: false
      }
    writesChunks = !hasLength && version.hasChunks
    let caller = Persistence.afterAnswer(
      to: request, isRead: isRead, answerHasEnd: hasLength || writesChunks, isEnding: isEnding)
    closes = caller == .close
  }
}

enum ResponseRewriting {
  /// Appends the caller's response head to `output`; `date` is used if the upstream sent none (RFC 9110 §6.6.1).
  static func write(
    _ attempt: UpstreamAttempt, _ plan: ResponsePlan, to request: RequestContext, of route: Route,
    callers: CallerCheck, isTLS: Bool, date: borrowing ByteBuffer, pseudonym: Pseudonym,
    into output: inout ByteBuffer
  ) {
    write(
      attempt.head, attempt.input, plan, request.head, request.headBytes, request.admitted.version, route,
      callers, isTLS: isTLS, corsOrigin: request.corsOrigin, request.credential, date, pseudonym,
      keepsConnectionAuthentication: attempt.binding.isBound && request.credential.owner != .proxy, &output)
  }

  private static func write(
    _ head: borrowing ResponseHead, _ input: borrowing ByteBuffer, _ plan: ResponsePlan,
    _ request: borrowing RequestHead, _ requestInput: borrowing ByteBuffer, _ version: HTTPVersion, _ route: Route,
    _ callers: CallerCheck, isTLS: Bool, corsOrigin: ByteRange, _ credential: borrowing RequestCredential,
    _ date: borrowing ByteBuffer, _ pseudonym: Pseudonym, keepsConnectionAuthentication: Bool,
    _ output: inout ByteBuffer
  ) {
    let requestBytes = requestInput.bytes
    let caller = CallerAddress(
      host: requestBytes.extracting(route.preservesHost ? request.authority : ByteRange()),
      scheme: isTLS ? .https : .http)
    let bytes = input.bytes
    writeStatusLine(head, bytes, credential, into: &output)
    var run = FieldRun()
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      if !corsOrigin.isEmpty, CORSPolicy.isVerdict(line, bytes) { continue }
      guard passes(line, head.status, plan), HopByHop.forwards(line, head.connection, in: bytes) else { continue }
      if OriginClaim.names.contains(line.known) {
        run.finish(from: bytes, into: &output)
        OriginClaim.write(line, bytes, route: route, credential: credential, into: &output)
        continue
      }
      switch ResponseFieldRule(line, bytes, route: route, caller: caller, credential: credential) {
      case .pass: run.add(line, from: bytes, into: &output)
      case .drop: continue
      case .relocate(let place):
        run.finish(from: bytes, into: &output)
        output.append(bytes.extracting(line.name))
        output.append(": ")
        place.write(bytes.extracting(line.value), route: route, into: &output)
        output.append("\r\n")
      case .hideMetadata:
        run.finish(from: bytes, into: &output)
        writeChallenge(line, bytes, into: &output)
      }
    }
    run.finish(from: bytes, into: &output)
    if plan.writesChunks { HeadWriter.chunkedCoding(into: &output) }
    if !head.fields.contains(.date) { HeadWriter.field("Date", date.bytes, into: &output) }
    route.vary.write(beside: head.fields, bytes, into: &output)
    callers.writeVary(request, beside: head.fields, bytes, into: &output)
    if !corsOrigin.isEmpty { CORSPolicy.writeGrant(origin: requestBytes.extracting(corsOrigin), into: &output) }
    PassedHops.writeVia(head, bytes, credential, pseudonym, into: &output)
    if keepsConnectionAuthentication, head.status == 401, !plan.closes,
      !ConnectionAuthentication.isSupported(by: head.fields, in: bytes)
    {
      HeadWriter.field(
        ConnectionAuthentication.support.name, ConnectionAuthentication.support.value, into: &output)
    }
    HeadWriter.end(plan.closes ? .closed : .kept, for: version, into: &output)
  }

  /// Appends the head of an answer without content: an interim one (RFC 9110 §15.2), or one that makes the exchange a
  /// WebSocket (RFC 6455 §4.2.2).
  static func writeBrief(
    _ head: borrowing ResponseHead, _ bytes: Span<UInt8>, _ notice: ConnectionNotice, route: Route,
    credential: borrowing RequestCredential, into output: inout ByteBuffer
  ) {
    write(head, bytes, dropping: [], route: route, credential: credential, into: &output)
    HeadWriter.end(notice, for: .http11, into: &output)
  }

  /// Fields about the content of an answer, or about its treatment by a browser.
  static let contentFields: [StaticString] = [
    "content-type", "content-encoding", "content-language", "content-range", "content-location", "content-disposition",
    "etag", "last-modified", "accept-ranges", "cache-control", "expires", "age", "content-security-policy",
    "content-security-policy-report-only", "x-frame-options", "x-content-type-options", "referrer-policy",
    "cross-origin-opener-policy", "cross-origin-resource-policy", "trailer",
  ]

  /// Appends the status line and the fields of an answer, without its length, the fields of the other connection and
  /// those of some names.
  static func write(
    _ head: borrowing ResponseHead, _ bytes: Span<UInt8>, dropping names: [StaticString], route: Route,
    credential: borrowing RequestCredential, into output: inout ByteBuffer
  ) {
    writeStatusLine(head, bytes, credential, into: &output)
    for index in 0..<head.fields.count where head.fields[index].known != .contentLength {
      let line = head.fields[index]
      let name = bytes.extracting(line.name)
      if names.contains(where: { name.equalsIgnoringCase($0) }) { continue }
      write(line, of: head, bytes, route: route, credential: credential, into: &output)
    }
  }

  /// Appends a field unless it belongs to the upstream's connection or repeats the token.
  private static func write(
    _ line: FieldLine, of head: borrowing ResponseHead, _ bytes: Span<UInt8>, route: Route,
    credential: borrowing RequestCredential,
    into output: inout ByteBuffer
  ) {
    guard HopByHop.forwards(line, head.connection, in: bytes) else { return }
    if OriginClaim.names.contains(line.known) {
      OriginClaim.write(line, bytes, route: route, credential: credential, into: &output)
    } else if line.known == .wwwAuthenticate, credential.hidesMetadata(in: line, bytes) {
      if !credential.isRepeated(by: line, bytes) { writeChallenge(line, bytes, into: &output) }
    } else if !credential.isRepeated(by: line, bytes) {
      HeadWriter.field(line, from: bytes, into: &output)
    }
  }

  @inline(never)
  private static func writeChallenge(_ line: FieldLine, _ bytes: Span<UInt8>, into output: inout ByteBuffer) {
    output.append("WWW-Authenticate: ")
    RelayedChallenge.write(bytes.extracting(line.value), into: &output)
    output.append("\r\n")
  }

  // Without the upstream's words if these repeat the token.
  private static func writeStatusLine(
    _ head: borrowing ResponseHead, _ bytes: Span<UInt8>, _ credential: borrowing RequestCredential,
    into output: inout ByteBuffer
  ) {
    let reason = bytes.extracting(head.reason)
    let isEcho = credential.isRepeated(in: reason)
    HeadWriter.statusLine(head.status, reason: isEcho ? reason.extracting(first: 0) : reason, into: &output)
  }

  private static func passes(_ line: FieldLine, _ status: Int, _ plan: ResponsePlan) -> Bool {
    switch line.known {
    // 204 has no length (RFC 9110 §8.6); announced trailers can only be sent if there are chunks.
    case .contentLength: status != 204
    case .trailer: plan.writesChunks
    // Written anew.
    case .via: false
    default: true
    }
  }
}
