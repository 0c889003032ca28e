// Feeds arbitrary lines to the reader of challenges. What must hold: nothing traps, the limits are kept, what was read
// and is written anew reads the same, and lines that were understood read the same when they are joined by commas.

import HTTP
import Tokens

/// One input of libFuzzer: each line is a field's value.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChallenge(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
  let list = read(lines)
  precondition(list.challenges.count <= AuthenticationChallengeList.challengeLimit)
  precondition(list.challenges.reduce(0) { $0 + $1.parameters.count } <= AuthenticationChallengeList.parameterLimit)
  let reading = BearerChallengeReading(list)
  if case .usable(let challenge) = reading {
    precondition(challenge.claims.map { $0.text.utf8.count <= Claims.limit * 6 } ?? true)
    precondition(challenge.authenticationContexts.count <= 16)
  }
  guard !list.isTruncated, list.challenges.allSatisfy(\.isWellFormed) else { return 0 }
  let again = read([Array(written(list).utf8)])
  precondition(again.challenges == list.challenges, "\(list.challenges) but written and read \(again.challenges)")
  precondition(BearerChallengeReading(again) == reading)
  let joined = read([Array(lines.joined(separator: [0x2C]))])
  precondition(joined.challenges == list.challenges, "\(list.challenges) but joined \(joined.challenges)")
  return 0
}

private func read(_ lines: [[UInt8]]) -> AuthenticationChallengeList {
  var list = AuthenticationChallengeList()
  for line in lines { list.read(line.span) }
  return list
}

private func written(_ list: AuthenticationChallengeList) -> String {
  list.challenges.map { challenge in
    let parameters = challenge.parameters.map { parameter in
      // By scalars: to a Character, a quotation mark with an accent is no quotation mark.
      var escaped = ""
      for scalar in parameter.value.unicodeScalars {
        if scalar == "\\" || scalar == "\"" { escaped += "\\" }
        escaped.unicodeScalars.append(scalar)
      }
      return "\(parameter.name)=\"\(escaped)\""
    }
    return "\(challenge.scheme) " + ([challenge.token68].compactMap { $0 } + parameters).joined(separator: ", ")
  }.joined(separator: ", ")
}
