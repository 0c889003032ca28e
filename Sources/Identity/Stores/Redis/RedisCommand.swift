// The commands of a cache, and the scripts that run inside the server if several steps must be one.

internal import Bytes
internal import Tokens

package struct RedisCommand: Sendable {
  /// Its name for people.
  package let name: String
  package let bytes: [UInt8]
  /// The part of a cluster's keys that it is about.
  var cell = 0

  /// A command of these words.
  init(_ name: String, _ arguments: [[UInt8]] = []) {
    self.name = name
    var bytes = Array("*\(arguments.count + 1)\r\n".utf8)
    for word in [Array(name.utf8)] + arguments {
      bytes += Array("$\(word.count)\r\n".utf8) + word + [0x0D, 0x0A]
    }
    self.bytes = bytes
  }

  /// A command of words that are text.
  init(_ name: String, _ arguments: String...) {
    self.init(name, arguments.map { Array($0.utf8) })
  }

  static func script(_ text: String, keys: [String], arguments: [[UInt8]]) -> RedisCommand {
    let words = [text, "\(keys.count)"] + keys
    return RedisCommand("EVAL", words.map { Array($0.utf8) } + arguments)
  }

  static func authenticate(_ credential: RedisCredential) -> RedisCommand {
    let password = credential.password.bytes.withUnsafeBufferPointer { Array($0) }
    return RedisCommand("AUTH", (credential.user.map { [Array($0.utf8)] } ?? []) + [password])
  }
}

extension RedisCommand {
  /// The same about a part of a cluster's keys.
  func about(_ cell: Int) -> RedisCommand {
    var command = self
    command.cell = cell
    return command
  }

  /// Writes shards, all or none: none if one of them is not at the version of its reading. Returns the new version, or
  /// 0.
  ///
  /// Keys: the counter, the counter's value at the last removal, the index, the numbers of people, the key that made
  /// them, and the shards. Arguments: the highest version this process has seen (a server that lost its data must not
  /// count twice), the name of the key that made the numbers, and for each shard its name, the version expected, its
  /// text, which is empty to remove it, and the numbers of its names. The first write of a cell notes that all of it
  /// has numbers.
  package static let write = """
    for i = 6, #KEYS do
      local at = 3 + (i - 6) * 4
      if (redis.call('HGET', KEYS[i], 'version') or '0') ~= ARGV[at + 1] then return 0 end
    end
    local counter = redis.call('GET', KEYS[1])
    local version = math.max(tonumber(counter or '0'), tonumber(ARGV[1])) + 1
    redis.call('SET', KEYS[1], version)
    if not counter then redis.call('SET', KEYS[5], ARGV[2]) end
    for i = 6, #KEYS do
      local at = 3 + (i - 6) * 4
      if ARGV[at + 2] == '' then
        redis.call('DEL', KEYS[i])
        redis.call('ZREM', KEYS[3], ARGV[at])
        redis.call('SET', KEYS[2], version)
      else
        redis.call('HSET', KEYS[i], 'version', version, 'entries', ARGV[at + 2])
        redis.call('ZADD', KEYS[3], version, ARGV[at])
      end
      local place = 0
      for number in string.gmatch(ARGV[at + 3], '%S+') do
        redis.call('ZADD', KEYS[4], number, place .. ':' .. ARGV[at])
        place = place + 1
      end
      while redis.call('ZREM', KEYS[4], place .. ':' .. ARGV[at]) == 1 do place = place + 1 end
    end
    return version
    """

  /// Replaces the text that was read by one with an end in milliseconds, or removes it if the new one is empty; 0 if
  /// another text is there by now.
  package static let replace = """
    if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
    if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
    return 1
    """

  /// Lengthens a lease that is still ours.
  package static let renew = """
    if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
    return 0
    """

  /// Ends a lease that is still ours.
  package static let release = """
    if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
    return 0
    """
}
