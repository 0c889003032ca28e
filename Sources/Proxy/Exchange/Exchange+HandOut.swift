// A request for a route's token, by an engine that forwards its callers' requests itself: the same rules for callers,
// tokens and challenges as for a request that is forwarded, and an answer in place of the upstream's.

internal import Bytes
internal import HTTP
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

extension Exchange {
  func handOut(_ path: HandOutPath) async -> Bool {
    let keepsConnection = await writeHandOut(path)
    return await deliver() && keepsConnection
  }

  /// Writes the answer to a request for a token. False: the caller's connection ends behind it.
  /// - Parameter isJudged: whether the caller was judged by another head, that of its call.
  func writeHandOut(_ path: HandOutPath, isJudged: Bool = false) async -> Bool {
    var keepsConnection = mayGoOn
    do throws(ExchangeFailure) {
      let wish = try admit(path, isJudged: isJudged)
      // It has no content.
      keepsConnection = mayGoOn(isRead: true)
      if try !believesCallerToken() { try await judgeCallerToken() }
      let isHeld = try takeHeldCredential(for: route)
      if let fixed = route.fixedCredential, let refused = wish.refused {
        // There is no other one, unless the file has changed since.
        let isStill = request.headBytes.withBytes { fixed.value.matches($0.extracting(refused.credential)) }
        if isStill { throw .refusedToken(status: refused.status) }
      } else if let refused = wish.refused, !isHeld || request.credential.owner == .proxy {
        request.credential = .bearer(try await tokenBeside(refused, for: route))
      } else if !isHeld {
        guard let slot = request.slot else { throw .handOut(.route) }
        request.credential = .bearer(try await bearer(slot, of: route))
      }
      if wish.wantsRefusal { throw .handOut(.overtaken) }
      writeToken(keepsConnection: keepsConnection)
    } catch {
      keepsConnection = keepsConnection && error.leavesConnectionUsable
      await write(error, keepsConnection: keepsConnection)
      // As for other answers of this kind.
      if keepsConnection { await Task.yield() }
    }
    return keepsConnection
  }

  @inline(never)
  private func admit(_ path: HandOutPath, isJudged: Bool) throws(ExchangeFailure) -> HandOutRequest {
    request.path.removeAll()
    if let refusal = facts.refusal { throw .caller(refusal) }
    defer { request.record.route = request.route?.index }
    let admission = try HandOutAdmission(
      path, request.head, request.headBytes, callers: isJudged ? nil : facts.listener.callers,
      table: state.service.table, normalPath: &request.path, found: &request.route)
    request.handOut = admission.request
    return admission.request
  }

  private func tokenBeside(
    _ refused: HandOutRequest.Refused, for route: Route
  ) async throws(ExchangeFailure) -> BearerValue {
    let refusal = Refusal(
      token: value(of: refused), route: route, status: refused.status, challenge: reportedChallenge(),
      isReplayable: true, isReplay: false)
    do throws(AcquisitionError) {
      if let value = try await answerRefusal(refusal) { return value }
    } catch {
      if error.assertionRefused != nil { throw .token(error) }
    }
    throw .refusedToken(status: refused.status)
  }

  /// The refused token: the held one, or one from before, of which nothing but its text is known.
  @inline(never)
  private func value(of refused: HandOutRequest.Refused) -> BearerValue {
    request.headBytes.withBytes { bytes in
      let token = bytes.extracting(refused.credential).extracting(droppingFirst: HandOutRequest.schemeLength)
      if let held = request.credential.bearer, held.token.matches(token) { return held }
      let longAgo = UnixTime(0)
      return BearerValue(
        Secret(copying: token),
        lifetime: TokenLifetime(obtainedAt: longAgo, refreshAt: longAgo, expiresAt: longAgo), scopes: .none)
    }
  }

  @inline(never)
  private func reportedChallenge() -> BearerChallengeReading {
    var list = AuthenticationChallengeList()
    request.headBytes.withBytes { bytes in
      HandOutRequest.eachChallenge(request.head, bytes) { list.read($0) }
    }
    return BearerChallengeReading(list)
  }

  /// Writes the token. A warm answer copies the rendered value and allocates nothing.
  @inline(never)
  private func writeToken(keepsConnection: Bool) {
    beginAnswer(200)
    writeDate()
    if let value = request.credential.bearer {
      value.writeField(into: &buffers.output)
      if route.fixedValue == nil {
        let life = value.lifetime.expiresAt - UnixTime(state.clock.wallClock().seconds)
        HeadWriter.field("X-Bearer-Expires", decimal: UInt64(max(life, 0)), into: &buffers.output)
      }
      state.metrics.add(state.service.metrics.handedOut[TokenTaker.engine.rawValue, request.record.route ?? 0])
    } else if let own = callersOwnField(of: route) {
      // The route keeps what the caller sent. Without a field, an engine might pass on another one.
      let name = route.credentialField
      request.headBytes.withBytes {
        HeadWriter.field(Array(name.utf8), $0.extracting(own.value), into: &buffers.output)
      }
    }
    buffers.output.append("Cache-Control: no-store\r\nContent-Length: 0\r\n")
    writeEnd(keepsConnection: keepsConnection)
  }

  /// Writes the upstream's challenges as one field, as engines pass on one alone, without the upstream's metadata: the
  /// engine replaces its callers' tokens, too.
  func writeReportedChallenges() {
    var isFirst = true
    request.headBytes.withBytes { bytes in
      HandOutRequest.eachChallenge(request.head, bytes) { value in
        buffers.output.append(isFirst ? "WWW-Authenticate: " : ", ")
        RelayedChallenge.write(value, into: &buffers.output)
        isFirst = false
      }
    }
    buffers.output.append(isFirst ? "WWW-Authenticate: Bearer\r\n" : "\r\n")
  }
}
