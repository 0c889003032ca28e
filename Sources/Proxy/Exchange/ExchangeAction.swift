// The events, the memory and the actions of `ExchangeState`.

internal import Bytes
internal import HTTP
internal import Platform
internal import Routing
internal import Telemetry

extension ExchangeState {
  /// The facts from before the first attempt.
  struct Terms {
    var request = AdmittedRequest()
    /// Whose credential the request carries.
    var credential = RequestCredential.Owner.proxy
    /// From the end of the request to the head of the answer.
    var responseHead = TimeSpan.seconds(60)
    /// Without progress in either direction.
    var idle = TimeSpan.seconds(60)
    /// The end of the time for the exchange as a whole.
    var whole = MonotonicTime.distantFuture
    /// Bytes a second that the caller has to move while it is waited for; `nil`: no limit.
    var callerRate: UInt64?
  }

  /// The source of a connection, besides a new one.
  struct ConnectionSources: OptionSet, Hashable {
    let rawValue: UInt8
    static let callersOwn = Self(rawValue: 1)
    static let pool = Self(rawValue: 2)
  }

  /// A final head of an answer, as far as it decides anything.
  struct AnswerHead: Equatable {
    var status: Int
    var framing: BodyFraming
    /// True if the upstream's connection can go on after it.
    var persistence = Persistence.keepAlive
    var hasChallenge = false
    /// True if gRPC says that the token is not good, before any message.
    var isUnauthenticated = false
  }

  /// The progress of the request while there is no answer.
  enum Sending {
    /// The head has been sent; the caller sends content after a 100 or a final answer, which is due by then.
    case withheld(answerDue: MonotonicTime)
    case content
    case sent(answerDue: MonotonicTime)
    /// The upstream takes no more of it; an answer may still arrive.
    case abandoned
  }

  /// The progress of the request while the answer is delivered.
  enum Rest {
    /// The caller has sent no content yet, and may take the answer as a reason to send none.
    case withheld
    case content
    case sent
    /// The rest stays unsent: the upstream takes no more, or the caller gives no more.
    case abandoned
  }

  enum Arrived {
    /// No byte of an answer: the connection may have been dead.
    case nothing
    case some(interimAnswers: Int)
  }

  /// The directions of a tunnel that are open.
  enum Tunnel {
    case both
    case towardsUpstream
    case towardsCaller
  }

  struct Needs: OptionSet, Hashable {
    let rawValue: UInt8
    static let content = Self(rawValue: 1)
    /// Room for content at the upstream.
    static let upstreamRoom = Self(rawValue: 2)
    static let answer = Self(rawValue: 4)
    /// Room for the answer at the caller.
    static let callerRoom = Self(rawValue: 8)
    /// Nothing: there is more to move after other tasks of the loop.
    static let turn = Self(rawValue: 16)
  }

  /// The action after a move of a direction.
  enum MoveAction: Equatable {
    /// Nothing beyond moving bytes.
    case move
    /// Tell the receiver that no more bytes follow.
    case endDirection
    case finish(Ending)
  }

  enum InterimAction: Equatable {
    case forward
    case drop
    case finish(Ending)
  }

  enum HeadAction: Equatable {
    /// Keep the head of the answer, and ask for another token.
    case hold
    case answer(ResponsePlan)
  }

  /// The facts about a request whose upstream ended the exchange without an answer.
  enum RequestFate: CaseIterable {
    case mayBeProcessed
    /// No part of it was sent, or the upstream says so: whatever the method, it can be sent again.
    case notProcessed
    /// It began, and the upstream has given it up on a connection that goes on: it was not lost with a dead one.
    case givenUp
  }

  enum UpstreamEndAction: Equatable {
    /// Send the request once more, on a connection from one of these or a new one.
    case retry(ConnectionSources)
    case finish(Ending)
  }

  /// The result of the search for another token after a refusal.
  enum Remedy: CaseIterable {
    /// Another token, and the request can be sent once more.
    case token
    /// A problem of the caller's own token, which the upstream's answer does not tell.
    case problem
    /// A page for a browser, with which its user signs in again.
    case signInPage
    case none
  }

  enum RefusalAction: Equatable {
    /// Drop the held answer. Its connection can be used again behind content of this framing; never if that is nil.
    case drop(BodyFraming?, then: Replacement)
    case answer(ResponsePlan)
  }

  /// The replacement of a held answer.
  enum Replacement: Equatable {
    /// The request is sent once more, on a connection from one of these or a new one.
    case replay(ConnectionSources)
    /// An answer of the proxy's own says what is wrong.
    case problem
    case signInPage(keepsCaller: Bool)
  }

  /// The action if neither direction can move.
  enum Pause: Equatable {
    case yield
    case wait(Wait)
    case finish(Ending)
  }

  struct Wait: Equatable {
    var needs: Needs
    /// True if the caller delays the exchange.
    var isForCaller: Bool
    var until: MonotonicTime
  }

  enum Ending: Equatable {
    case completed(reusesUpstream: Bool, keepsCaller: Bool)
    /// The sides of a tunnel that still listen are told that it ends, which is no failure.
    case goingAway(tellsUpstream: Bool, tellsCaller: Bool)
    /// The exchange broke after the caller had part of the answer, or because of the caller. Its connection is reset.
    case interrupted(Interruption)
    /// The caller has no part of an answer and gets the proxy's own.
    case failed(DeliveryFailure)
  }

  enum Interruption: Equatable {
    case callerLeft
    case callerTooSlow
    /// A time limit ran out; the fault is the upstream's if it had to move.
    case timedOut(UpstreamFault?)
    case contentRefused
    case upstreamBroke(UpstreamFault?)
  }
}

extension ExchangeState.Ending {
  /// The answer was delivered, and neither connection can go on.
  static var delivered: Self { .completed(reusesUpstream: false, keepsCaller: false) }

  /// The failure of an attempt; nil if its answer tells.
  var errorType: String? {
    switch self {
    case .completed, .goingAway: nil
    case .failed(let failure): ExchangeFailure.delivery(failure).errorType
    case .interrupted(.timedOut(.some(let fault))), .interrupted(.upstreamBroke(.some(let fault))): fault.rawValue
    case .interrupted(.callerLeft): "aborted_by_downstream"
    case .interrupted(.timedOut), .interrupted(.callerTooSlow): "timed_out"
    case .interrupted(.contentRefused), .interrupted(.upstreamBroke): "broken_off"
    }
  }
}

extension ExchangeState.Interruption {
  var outcome: RequestOutcome {
    switch self {
    case .callerLeft: .abortedByDownstream
    case .callerTooSlow, .timedOut: .timedOut
    case .contentRefused: .answeredByProxy
    case .upstreamBroke: .upstreamFailed
    }
  }

  var fault: UpstreamFault? {
    switch self {
    case .timedOut(let fault), .upstreamBroke(let fault): fault
    case .callerLeft, .callerTooSlow, .contentRefused: nil
    }
  }

  var limit: Limit? {
    switch self {
    case .callerTooSlow: .callerRate
    case .timedOut: .idle
    case .callerLeft, .contentRefused, .upstreamBroke: nil
    }
  }
}

/// When a request may be sent a second time without a refusal.
enum RetryRule {
  /// Attempts beyond the first for a request that was not processed. With HTTP/2, one connection that ends concerns
  /// many requests, and the next one may end, too.
  static let retriesOfUnprocessed = 3

  /// True if a request that failed before any answer arrived is sent again on a fresh connection (RFC 9110 §9.2.2, RFC
  /// 9112 §9.3.1). One that was not processed is, if its content can be sent again. Otherwise it is once, and the
  /// connection must have been used before, so that the upstream may have closed it while it was idle, and doing the
  /// request twice must be like doing it once. Streamed content is gone: only requests without content are repeated.
  static func permits(
    _ request: ExchangeState.RequestFate, method: RequestMethod, framing: BodyFraming, contentIsKept: Bool,
    connectionWasReused: Bool, retries: Int
  ) -> Bool {
    switch request {
    case .notProcessed: retries < retriesOfUnprocessed && contentIsKept
    case .givenUp: false
    case .mayBeProcessed:
      retries == 0 && connectionWasReused && survivesRepetition(method: method, framing: framing)
    }
  }

  /// True if a connection that may turn out to be dead is good enough for a request.
  static func survivesRepetition(method: RequestMethod, framing: BodyFraming) -> Bool {
    let hasNoContent = framing == .none || framing == .fixed(0)
    return hasNoContent && method.isIdempotent
  }
}
