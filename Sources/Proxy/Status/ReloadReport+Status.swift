// The part of `/status` about the configuration in force and the last attempt to replace it.

internal import Bytes
internal import Tokens

extension ReloadReport {
  func json(at now: UnixTime) -> JSONValue {
    var members: [String: JSONValue] = [
      "line": .string(line(at: now)), "generation": .integer(Int64(generation)),
      "in_force_since": .integer(inForceSince.seconds), "current": .bool(refusal == nil),
      "need_restart": .array(needRestart.map(JSONValue.string)),
    ]
    members["refused"] = refusal.map { refusal in
      .object(["at": .integer(refusal.at.seconds), "issues": .array(refusal.issues.map(JSONValue.string))])
    }
    return .object(members)
  }

  private func line(at now: UnixTime) -> String {
    let inForce = "in force \(words(since: inForceSince, now: now))"
    if let refusal {
      let more = refusal.issues.count > 1 ? " (and \(refusal.issues.count - 1) more)" : ""
      return
        "not reloaded \(words(since: refusal.at, now: now)): \(refusal.issues.first ?? "")\(more); an older one is "
        + "\(inForce)"
    }
    return needRestart.isEmpty ? inForce : "\(inForce); a restart is needed for \(needRestart.joined(separator: ", "))"
  }
}
