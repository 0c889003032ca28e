// Under which name a request that met a limit is counted.

import HTTP
import HTTPClient
import Platform
import Telemetry
import Testing

@testable import Proxy

@Suite struct RequestLimitTests {
  private static let rows: [(ExchangeFailure, Limit?)] = [
    (.head(.headTooLarge), .headBytes), (.head(.targetTooLong), .targetBytes), (.head(.field(.tooMany)), .fieldCount),
    (.delivery(.tooLarge), .bodyBytes), (.headStalled, .requestHead), (.delivery(.contentStalled), .idle),
    (.delivery(.contentTooSlow), .callerRate),
    (.unreachable(.timedOut), .connect), (.unreachable(.connect(.timedOut)), .connect),
    (.delivery(.upstreamStalled), .responseHead), (.delivery(.exchangeTimedOut), .exchange),
    // Failures without a limit.
    (.head(.requestLine), nil), (.head(.field(.folding)), nil), (.noRoute, nil), (.delivery(.upstreamClosed), nil),
    (.unreachable(.connect(.forbiddenAddress)), nil), (.delivery(.contentCut), nil),
  ]

  @Test func `a limit has the name of its key`() {
    for (failure, limit) in Self.rows { #expect(failure.limit == limit, "\(failure)") }
    #expect(Set(Limit.allCases.map(\.position)).count == Limit.allCases.count)
    // Connections are counted when they are accepted and when they end.
    #expect(Set(Self.rows.compactMap(\.1)).union([.connections, .unfinished, .http2Abuse]) == Set(Limit.allCases))
  }
}
