// Both ends of the Model Context Protocol, of the SDK and of fastmcp: Tests/peers/mcp_server.py and mcp_client.py.

import FoundationEssentials

package enum MCPLibrary: String, Sendable, CaseIterable {
  case mcp, fastmcp
}

/// An MCP server at `/mcp`.
package struct MCPServer: Sendable {
  /// The port of 127.0.0.1 it listens on.
  package let port: Int
  package let process: ChildProcess
  /// Its own name, which is the audience of its tokens.
  package var resource: String { "http://127.0.0.1:\(port)/mcp" }

  /// A request that it got: `-` for a part that was missing.
  package struct Request: Sendable {
    package var method: String
    package var session: String
    package var subject: String
    package var token: String
  }

  /// Starts it; with an issuer it demands tokens with all of the scopes.
  /// - Parameter demands: the time at which it demands claims: `before` an answer, or `within` a stream.
  package init(
    _ library: MCPLibrary, in directory: TemporaryDirectory? = nil, port: Int? = nil, issuer: String? = nil,
    scopes: [String] = [], demands: String? = nil
  ) async throws {
    self.port = try port ?? freePort()
    let options =
      (issuer.map { ["--issuer", $0] } ?? []) + scopes.flatMap { ["--scope", $0] }
      + (demands.map { ["--demands", $0] } ?? [])
    process = try ChildProcess(
      "mcp-server", peer("mcp_server.py", [library.rawValue, "--port", "\(self.port)"] + options), in: directory)
    try await waitForPort(self.port, of: process)
  }

  package var requests: [Request] {
    process.output.split(separator: "\n").filter { $0.hasPrefix("request ") }.map { line in
      let words = line.split(separator: " ").map(String.init)
      return Request(method: words[1], session: words[2], subject: words[3], token: words[4])
    }
  }
}

/// An MCP client's report.
package struct MCPReport: Decodable, Sendable {
  /// A request of a person's sign-in.
  package struct SignIn: Decodable, Sendable {
    package var scope: String?
    package var resource: String?
  }

  package var sum: Int?
  package var progress: Int
  package var error: String?
  package var signIns: [SignIn]

  private enum CodingKeys: String, CodingKey {
    case sum, progress, error
    case signIns = "sign_ins"
  }

  /// True if both tools were called, and every event arrived.
  package var isComplete: Bool { sum == 42 && progress == 3 && error == nil }
}

/// Runs an MCP client against a URL; `arguments` are further options of Tests/peers/mcp_client.py.
package func mcpClient(
  _ library: MCPLibrary, _ url: String, _ arguments: [String] = []
) async throws -> MCPReport {
  let result = try await run(peer("mcp_client.py", [library.rawValue, url] + arguments), within: .seconds(180))
  guard let line = result.output.split(separator: "\n").last,
    let report = try? JSONDecoder().decode(MCPReport.self, from: Data(line.utf8))
  else { throw TestSupportError("the client printed no report: \(result.output)\(result.errors)") }
  return report
}
