// curl and Python's http.client as callers: independent parties downstream.

package import Bytes

/// An HTTP answer as a caller saw it.
package struct Answer: Sendable {
  /// The status code; 0 if there was no answer.
  package let status: Int
  /// Field names in lower case with their values, in order.
  package let fields: [(name: String, value: String)]
  /// The body, undecodable bytes replaced.
  package let body: String
  /// curl's exit status.
  package let exit: Int32

  /// The first value of the field `name`, in lower case.
  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// The value of the line `name=value` of nginx's echo.
  package func echoed(_ name: String) -> String? {
    body.split(separator: "\n").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
  }
}

/// Runs curl with `arguments` (silent, no configuration file, its own time limit) and returns the last answer it got.
package func curl(_ arguments: [String], within seconds: Int = 30) async throws -> Answer {
  let directory = try TemporaryDirectory()
  let fixed = [
    "curl", "-q", "-s", "-S", "--max-time", "\(seconds)", "-D", directory.file("head"), "-o", directory.file("body"),
  ]
  let child = try ChildProcess("curl", fixed + arguments, in: directory)
  let exit = try await child.wait(within: .seconds(seconds + 5))
  let (status, fields) = parseHead(directory.read("head"))
  let answer = Answer(status: status, fields: fields, body: directory.read("body"), exit: exit)
  // These are the proxy's own answers; an upstream's answer may well show the token it was sent.
  if answer["content-type"] == "application/problem+json" {
    ProxyLedger.current?.add(answer.body, from: "the problem document \(answer.status)")
  }
  return answer
}

/// The status and the fields of the last head in `text`: curl writes interim answers' heads too, and trailers after.
func parseHead(_ text: String) -> (Int, [(name: String, value: String)]) {
  var status = 0
  var fields: [(name: String, value: String)] = []
  for line in text.split(whereSeparator: \.isNewline) {
    if line.hasPrefix("HTTP/") {
      status = line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      fields = []
    } else if let colon = line.firstIndex(of: ":") {
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields.append((name: line[..<colon].lowercased(), value: String(value)))
    }
  }
  return (status, fields)
}

/// Runs `script` with Debian's Python and `arguments`, and returns what it printed; throws if it fails.
package func python(_ script: String, _ arguments: [String] = [], within limit: Duration = .seconds(60)) async throws
  -> String
{
  try await succeed(["/usr/bin/python3", "-c", script] + arguments, within: limit)
}

extension String {
  /// The text between two others, the first time.
  package func between(_ start: String, _ end: String) -> String? {
    guard let from = firstRange(of: start)?.upperBound, let to = self[from...].firstRange(of: end)?.lowerBound else {
      return nil
    }
    return String(self[from..<to])
  }
}

extension Answer {
  /// The members of its JSON object.
  package var json: [String: JSONValue] { members(body) }
}

/// The members of the JSON object that a text is; none if it is no object.
package func members(_ json: some StringProtocol) -> [String: JSONValue] {
  JSONValue(json: Array(json.utf8))?.members ?? [:]
}
