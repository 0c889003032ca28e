// The health of a gRPC server by its own word: grpc.health.v1, Health/Check (grpc/grpc, doc/health-checking.md).

import Bytes
import HTTP
import HTTPClient
import Identity
import Platform
import Proxy
import Telemetry

/// A call of Health/Check for the whole server at a route's upstream.
struct HealthTrial {
  /// Below the root of the server, whatever the route's own path there.
  static let target = "/grpc.health.v1.Health/Check"

  let request: FetchRequest
  /// True if the request has the route's token.
  let hasToken: Bool

  /// A call to the origin of `upstream`. The token is for the route's part of it alone.
  init(_ upstream: HTTPURL, _ token: BearerValue?) {
    var url = upstream
    url.target = Self.target
    // An empty message asks for the whole server.
    let message = GRPCCall.prefix(0)
    var fields = [("te", "trailers")]
    hasToken = token != nil && Self.target.hasPrefix(upstream.target)
    if hasToken, let token { fields.append(token.field) }
    var request = FetchRequest(.post(contentType: "application/grpc", body: message), url, fields: fields)
    request.takesTrailers = true
    self.request = request
  }

  /// The finding in an answer; nil if no gRPC server gave it.
  func step(_ response: FetchResponse) -> CheckStep? {
    guard response.status == 200, response.value(of: "content-type")?.hasPrefix("application/grpc") == true else {
      return nil
    }
    func step(_ verdict: CheckVerdict, _ detail: String, _ advice: Cure? = nil) -> CheckStep {
      CheckStep(name: .health, verdict: verdict, detail: detail, advice: advice?.words())
    }
    let status = response.value(of: "grpc-status") ?? ""
    switch status {
    case "0":
      switch Self.state(response.body) {
      case 1: return step(.ok, "the server says SERVING")
      case 2: return step(.failed, "the server says NOT_SERVING", .health)
      case 0: return step(.failed, "the server says UNKNOWN", .health)
      case let other:
        return step(.failed, "the server's answer is none of grpc.health.v1: \(other.map { "\($0)" } ?? "no message")")
      }
    case "12": return step(.skipped, "not told: the server has no grpc.health.v1 (UNIMPLEMENTED)")
    case "16", "7":
      let word = status == "16" ? "UNAUTHENTICATED" : "PERMISSION_DENIED"
      return hasToken
        ? step(.failed, "Health/Check is answered with \(word)", status == "16" ? .probeAudience : .probeScope)
        : step(.skipped, "not told: Health/Check, which is asked without the token here, is answered with \(word)")
    case "5": return step(.skipped, "not told: the server knows no health of itself as a whole (NOT_FOUND)")
    default:
      let word = status.isEmpty ? "(none)" : status
      return step(.failed, "Health/Check is answered with grpc-status \(word)", .probeTrouble)
    }
  }

  /// The number in a `HealthCheckResponse`; nil if it is none.
  private static func state(_ content: [UInt8]) -> UInt64? {
    var content = content
    guard case .message(let message) = GRPCCall.takeMessage(from: &content, limit: 1024), content.isEmpty else {
      return nil
    }
    var state: UInt64 = 0
    do throws(ProtobufError) {
      try ProtobufReader.each(message[...]) { field throws(ProtobufError) in
        guard field.number == 1 else { return }
        guard case .number(let number) = field.value else { throw .type }
        state = number
      }
      return state
    } catch {
      return nil
    }
  }
}

extension BearerValue {
  /// The field that carries it, in lower case, and its value.
  var field: (String, String) {
    let name = otherField.map { String(decoding: $0, as: UTF8.self).lowercased() }
    return (name ?? "authorization", bytes.text)
  }
}
