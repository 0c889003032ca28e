// A program's request for a token of its own, in the shape that it knows: the same tokens, limits and records as for a
// request that is forwarded, and an answer in place of the upstream's.

internal import Bytes
internal import HTTP
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

extension Exchange {
  func serve(_ programs: ProgramTable) async -> Bool {
    var keepsConnection = false
    do throws(ExchangeFailure) {
      let (endpoint, length) = try admit(programs)
      guard length <= ProgramRequest.formLimit else { throw .delivery(.tooLarge) }
      let form = try await content(Int(length))
      buffers.input.consume(form.count)
      keepsConnection = mayGoOn(isRead: true)
      switch endpoint {
      case .metadata: return await answer(ProxyResponse(json: metadata(programs)), keepsConnection: keepsConnection)
      case .token(let shape):
        let (asked, token) = try read(shape, form, programs)
        if let subject = asked.subjectToken { try await believe(subject) }
        let value = try await obtain(token, asked)
        return await answer(ProxyResponse(json: document(value, token, asked)), keepsConnection: keepsConnection)
      }
    } catch {
      return await answer(error, keepsConnection: keepsConnection)
    }
  }

  @inline(never)
  private func admit(_ programs: ProgramTable) throws(ExchangeFailure) -> (ProgramEndpoint, UInt64) {
    request.path.removeAll()
    if let refusal = facts.refusal { throw .caller(refusal) }
    let callers = facts.listener.callers
    return try request.headBytes.withBytes { bytes throws(ExchangeFailure) in
      let framing = try Admission.framing(request.head, bytes)
      if let refusal = callers.judge(request.head, bytes) { throw .caller(refusal) }
      do throws(ProgramRefusal) {
        let endpoint = try ProgramEndpoint(request.head, bytes, programs)
        switch framing {
        case .none: return (endpoint, 0)
        case .fixed(let count): return (endpoint, count)
        // No program sends a form in pieces of unknown number.
        default: throw ProgramRefusal.form
        }
      } catch {
        throw .program(error)
      }
    }
  }

  @inline(never)
  private func read(
    _ shape: ProgramShape, _ form: [UInt8], _ programs: ProgramTable
  ) throws(ExchangeFailure) -> (ProgramRequest, ProgramToken) {
    do throws(ProgramRefusal) {
      let asked = try request.headBytes.withBytes { bytes throws(ProgramRefusal) in
        try ProgramRequest(shape, request.head, bytes, form: form, programs)
      }
      let token = try asked.program.token(for: asked.wish)
      request.route = token.route.map { state.service.plan.routes[$0] }
      request.record.route = token.route
      request.slot = token.slot
      return (asked, token)
    } catch {
      throw .program(error)
    }
  }

  /// Judges the token that a program brings of its caller, by the listener's rule for callers' tokens.
  private func believe(_ subject: Secret) async throws(ExchangeFailure) {
    guard let check = facts.listener.tokenCheck else { throw .program(.grant) }
    guard let digest = state.callerTokens.digest(of: subject.bytes) else { throw .callerIssuerUnavailable }
    let name = CallerTokens.Name(check: ObjectIdentifier(check), certificate: [], digest: digest)
    request.callerToken = state.callerTokens.use(name, now: UnixTime(state.clock.wallClock().seconds))
    if request.callerToken == nil { try await judge(subject.revealed(), check, name) }
  }

  /// The token with enough life, from the loop's memory or from the broker.
  private func obtain(
    _ token: ProgramToken, _ asked: ProgramRequest
  ) async throws(ExchangeFailure) -> BearerValue {
    let (slot, now) = (token.slot, UnixTime(state.clock.wallClock().seconds))
    let held = token.isForCallers ? try callerBearer(slot, now: now) : state.bearers[slot]
    if let held, held.isUsable(at: now), held.lifetime.lives(asked.program.leastLife, at: now) {
      request.record.tokenSource = .cache
      if held.claimsRefresh(at: now) { state.service.process.broker.refreshBehind(subscription(of: slot)) }
      return held
    }
    let wanted = subscription(of: slot, for: asked.subjectToken)
    let value = try await bearer(wanted, leastLife: asked.program.leastLife)
    if token.isForCallers { request.callerToken?.keep(value, for: slot) } else { state.bearers[slot] = value }
    return value
  }

  // MARK: Answers

  /// The document with the token, which is counted as given.
  @inline(never)
  private func document(_ value: BearerValue, _ token: ProgramToken, _ asked: ProgramRequest) -> [UInt8] {
    request.credential = .bearer(value)
    let metrics = state.service.metrics
    state.metrics.add(metrics.programTokens[asked.program.index, metrics.row(token.route)])
    let life = value.lifetime.expiresAt - UnixTime(state.clock.wallClock().seconds)
    return ProgramAnswer(
      shape: asked.program.shape, wish: asked.wish, clientID: state.service.plan.subscriptions[token.slot].key.clientID,
      expiresIn: max(life, 0), lifetime: value.lifetime
    ).json(value.token)
  }

  private func metadata(_ programs: ProgramTable) -> [UInt8] {
    let authority = request.headBytes.withBytes { $0.extracting(request.head.authority).text }
    let scheme = facts.ingress.isTLS ? "https" : "http"
    return ProgramAnswer.metadata(origin: "\(scheme)://\(authority.isEmpty ? "localhost" : authority)", programs)
  }
}
