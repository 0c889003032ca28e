// A provider, or several on one host, that answers as it was recorded and remembers what it was asked.

import FoundationEssentials
import HTTP
import HTTPClient
import TestSupport
import Testing

@testable import Identity

/// Answers metadata requests by their address, and token requests in the order of the script.
actor ReplayingProvider {
  struct Request {
    var url: String
    var form: [String: String]
    var anchor: String?
  }

  private let metadata: [String: String]
  private var answers: [ScriptedProvider.Answer] = []
  private(set) var requests: [Request] = []
  /// Counts the acquisitions that are over.
  nonisolated let finished = Tally()

  init(metadata: [String: String]) {
    self.metadata = metadata
  }

  /// Replaces the answers to the next token requests.
  func script(_ answers: [ScriptedProvider.Answer]) {
    self.answers = answers
  }

  func takeRequests() -> [Request] {
    defer { requests = [] }
    return requests
  }

  nonisolated var fetch: Fetch {
    { request throws(FetchError) in
      switch await self.answer(request) {
      case .response(let response): return response
      case .failure(let error): throw error
      }
    }
  }

  private func answer(_ request: FetchRequest) -> ScriptedProvider.Answer {
    let url = request.url.description
    guard case .post(_, let body) = request.method else {
      #expect(metadata[url] != nil, "metadata was never recorded at \(url)")
      return .json(200, metadata[url] ?? "{}")
    }
    requests.append(
      Request(
        url: url, form: Self.members(ofForm: body),
        anchor: request.fields.first { $0.name == "x-anchormailbox" }?.value))
    #expect(!answers.isEmpty, "one request more than there are answers")
    return answers.isEmpty ? .json(500, "") : answers.removeFirst()
  }

  /// The members of a form, decoded.
  private static func members(ofForm body: [UInt8]) -> [String: String] {
    var components = URLComponents()
    components.percentEncodedQuery = String(decoding: body, as: UTF8.self)
    return Dictionary((components.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
  }
}
