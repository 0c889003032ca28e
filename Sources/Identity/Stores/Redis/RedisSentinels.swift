internal import Platform
internal import Tokens

/// Finds the primary that a group of sentinels watches. The one that answered last is asked first.
struct RedisSentinels: Sendable {
  private let sentinel: RedisServer.Sentinels
  private var order: [RedisPlace]

  init(_ server: RedisServer, _ sentinel: RedisServer.Sentinels) {
    self.sentinel = sentinel
    order = server.places
  }

  /// The place of the primary, by the first sentinel that knows it.
  mutating func primary(_ way: RedisWay) async throws(RedisFailure) -> RedisPlace {
    var failure = RedisFailure.noPrimary(name: sentinel.primary)
    for place in order {
      let deadline = MonotonicTime.now + way.timing.sentinel
      do throws(RedisFailure) {
        let credential = sentinel.password.map { RedisCredential(user: sentinel.user, password: $0) }
        let connection = try await way.connect(place, credential, until: deadline)
        defer { connection.close() }
        let question = RedisCommand("SENTINEL", "get-master-addr-by-name", sentinel.primary)
        switch try await connection.perform([question], until: deadline)[0] {
        case .list(let parts) where parts.count == 2:
          guard let host = parts[0].string, let port = parts[1].number.flatMap(UInt16.init(exactly:)) else {
            throw .malformed
          }
          order.removeAll { $0 == place }
          order.insert(place, at: 0)
          return RedisPlace(host: host.lowercased(), port: port)
        case .refusal(let code):
          throw code == "NOAUTH" ? .credentials(code: code) : .refused(command: question.name, code: code)
        default: continue
        }
      } catch {
        failure = error
      }
    }
    throw failure
  }
}
