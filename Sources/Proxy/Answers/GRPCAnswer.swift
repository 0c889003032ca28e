// The form of the proxy's own answers to gRPC calls: a head alone, as a server's that has no message ("Trailers-Only").

internal import HTTP

extension ErrorResponse {
  /// The answer to a call. `words` is the sentence about what a person must do.
  init(call failure: ExchangeFailure, _ problem: ProblemDocument, words: String?) {
    status = problem.status
    fields = [
      ("Content-Type", "application/grpc"), ("grpc-status", "\(GRPCStatus(failure, problem).rawValue)"),
      ("grpc-message", GRPCStatus.message("\(problem.title): \(words ?? problem.detail)")),
    ]
  }
}

extension GRPCStatus {
  /// The status for a failure. An upstream that has taken the request and does not answer in time may have acted on it,
  /// so that is not the status with which clients repeat a call.
  init(_ failure: ExchangeFailure, _ problem: ProblemDocument) {
    switch failure {
    case .delivery(.exchangeTimedOut), .delivery(.upstreamStalled): self = .deadlineExceeded
    case .suspectedLoop: self = .resourceExhausted
    default: self.init(http: problem.status)
    }
  }
}
