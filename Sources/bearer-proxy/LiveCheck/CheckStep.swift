import Bytes
import Configuration
import HTTPClient
import Platform
import Tokens

/// The result of a step.
enum CheckVerdict: String, CaseIterable {
  case ok
  /// It was not tried: what it needs is not there.
  case skipped
  /// A person has to sign in first.
  case interactionRequired = "interaction_required"
  /// It does not work.
  case failed

  /// The worst of several; what was skipped was so for something that is worse.
  static func worst(_ verdicts: some Sequence<CheckVerdict>) -> CheckVerdict {
    let all = Set(verdicts)
    return all.contains(.failed) ? .failed : all.contains(.interactionRequired) ? .interactionRequired : .ok
  }

  var exitStatus: ExitStatus {
    switch self {
    case .ok, .skipped: .done
    case .interactionRequired: .interactionRequired
    case .failed: .failed
    }
  }

  /// The word for people.
  var word: String {
    switch self {
    case .ok: "ok"
    case .skipped: "skipped"
    case .interactionRequired: "sign-in"
    case .failed: "FAILED"
    }
  }
}

/// A link of the chain from the configuration to the upstream's answer.
struct CheckStep: Equatable {
  /// The links, in their order.
  enum Name: String, CaseIterable {
    case cacheName = "cache_name"
    case cacheConnection = "cache_connection"
    case cacheTLS = "cache_tls"
    case cacheReading = "cache_reading"
    case cacheLock = "cache_lock"
    case certificate
    case configuration
    case authority
    case credential
    case token
    case signIn = "sign_in"
    case clock
    case upstreamName = "upstream_name"
    case upstreamConnection = "upstream_connection"
    case upstreamTLS = "upstream_tls"
    case description
    case probe
    case health
    case handOut = "hand_out"
  }

  var name: Name
  var verdict: CheckVerdict
  /// Its duration; nil if nothing was tried.
  var milliseconds: Double?
  var detail: String
  /// The cure; nil if none is needed.
  var advice: String?
}

extension CheckStep {
  /// The steps of a connection, up to the stage that failed, for which `advise` says what to do.
  static func steps(
    of result: ConnectionProbe.Result, name: Name, connection: Name, tls: Name,
    advise: (_ stage: ConnectionProbe.Stage, _ error: UpstreamError) -> String
  ) -> [CheckStep] {
    func step(_ stage: ConnectionProbe.Stage) -> Name {
      switch stage {
      case .name: name
      case .connection: connection
      case .tls: tls
      }
    }
    var steps = result.passed.map {
      CheckStep(name: step($0.stage), verdict: .ok, milliseconds: milliseconds($0.time), detail: $0.detail)
    }
    if let failure = result.failure {
      steps.append(
        CheckStep(
          name: step(failure.stage), verdict: .failed, milliseconds: milliseconds(failure.time),
          detail: failure.error.reason, advice: advise(failure.stage, failure.error)))
    }
    return steps
  }

  fileprivate static func milliseconds(_ time: TimeSpan) -> Double { Double(time.nanoseconds) / 1_000_000 }
}

/// A step that has begun. Its end is measured.
struct CheckTrial {
  private let name: CheckStep.Name
  private let began = MonotonicTime.now

  init(_ name: CheckStep.Name) {
    self.name = name
  }

  func end(_ verdict: CheckVerdict, _ detail: String, advice: String? = nil) -> CheckStep {
    CheckStep(
      name: name, verdict: verdict, milliseconds: CheckStep.milliseconds(MonotonicTime.now - began), detail: detail,
      advice: advice)
  }
}

struct CheckedRoute: Equatable {
  var name: String
  var steps: [CheckStep]
}

/// The result of a whole check.
struct LiveCheckReport: Equatable {
  var file: String
  var routes: [CheckedRoute]
  /// The steps of the cache; empty if no token is kept outside this process.
  var cache: [CheckStep] = []
  /// The certificates of the configuration whose dates are worth a line.
  var certificates: [CheckStep] = []

  var verdict: CheckVerdict { .worst((cache + certificates + routes.flatMap(\.steps)).map(\.verdict)) }

  /// A block for each route, a line for each step, and what to do below it.
  var text: String {
    var text = ""
    let shared = [("the token cache", cache), ("certificates", certificates)].filter { !$0.1.isEmpty }
    for route in shared.map({ CheckedRoute(name: $0.0, steps: $0.1) }) + routes {
      text += "\(route.name)\n"
      for step in route.steps {
        let time = step.milliseconds.map { "\(Self.rounded($0)) ms" } ?? ""
        text +=
          "  " + step.verdict.word.padded(8) + step.name.rawValue.replacing("_", with: " ").padded(21)
          + "".padded(9 - time.count) + time + "  \(step.detail.printable(limit: 600))\n"
        if let advice = step.advice { text += "          → \(advice.printable(limit: 600))\n" }
      }
    }
    let count = routes.count == 1 ? "1 route" : "\(routes.count) routes"
    return text + "\(file): \(Self.conclusion(verdict)) (\(count))\n"
  }

  private static func conclusion(_ verdict: CheckVerdict) -> String {
    switch verdict {
    case .ok, .skipped: "everything works"
    case .interactionRequired: "a person has to sign in"
    case .failed: "something does not work"
    }
  }

  private static func rounded(_ milliseconds: Double) -> String {
    let tenths = Int(milliseconds * 10 + 0.5)
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// One JSON object on a line.
  var json: String {
    let report = JSONValue([
      "file": file, "verdict": verdict.rawValue,
      "routes": routes.map { JSONValue(["name": $0.name, "steps": $0.steps.map(\.json)]) },
      "cache": cache.map(\.json).nonEmpty, "certificates": certificates.map(\.json).nonEmpty,
    ])
    return report.canonicalText() + "\n"
  }
}

extension CheckStep {
  fileprivate var json: JSONValue {
    JSONValue([
      "step": name.rawValue, "verdict": verdict.rawValue, "detail": detail, "advice": advice,
      "ms": milliseconds.map { JSONValue.number(($0 * 1000).rounded() / 1000) },
    ])
  }
}
