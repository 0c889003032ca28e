// The file by which `status` finds a running instance: also if its configuration cannot be read any more, or names
// another admin address than at the start.

import Bytes
import Configuration
import Platform
import Telemetry

/// The file with the admin address of a configuration's running instance.
struct InstanceRecord: Sendable {
  private let file: SharedFile
  private let configuration: String

  private static let queue = FileQueue("instance-record")

  /// The record of a configuration in a directory; nil if there is no such configuration.
  init?(of configuration: String, in directory: String) {
    guard let path = RuntimeDirectory.absolutePath(of: configuration) else { return nil }
    do throws(CryptoError) {
      let digest = try SHA256.digest(of: Array(path.utf8)).prefix(8)
      file = SharedFile(path: "\(directory)/\(upperHexadecimal(Array(digest))).json")
    } catch {
      return nil
    }
    self.configuration = path
  }

  /// Writes the admin address, and returns the file's state for `remove`.
  func write(admin: SocketAddress, to log: Log) async -> FileIdentity? {
    let text = JSONValue.object([
      "admin": .string(admin.description), "configuration": .string(configuration),
    ]).canonicalText()
    let (file, bytes) = (file, Array((text + "\n").utf8))
    return await Self.queue.run {
      do throws(FileError) {
        return try file.replace(with: bytes, old: nil)
      } catch {
        log.warning(
          "the admin address cannot be recorded",
          ["file": .string(file.path), "reason": .string(error.detail), "next": .next(.adminRecord)])
        return nil
      }
    }
  }

  /// Removes what `write` wrote, unless another instance has replaced it.
  func remove(_ written: FileIdentity) async {
    await Self.queue.run { [file] in
      // A file that stays does no harm: `status` then asks at the address of the configuration.
      do throws(FileError) { try file.remove(ifStill: written) } catch {}
    }
  }

  /// The recorded admin addresses of a configuration's instances, in the order in which to ask.
  static func admins(of configuration: String, environment: [String: String]) -> [SocketAddress] {
    RuntimeDirectory.all(environment: environment).compactMap { directory in
      InstanceRecord(of: configuration, in: directory)?.admin
    }
  }

  private var admin: SocketAddress? {
    do throws(FileError) {
      guard let contents = try file.read(), let members = JSONValue(json: contents.bytes)?.members,
        members["configuration"]?.text == configuration, let text = members["admin"]?.text
      else { return nil }
      do throws(UnusableText) { return try SocketAddress(listener: text) } catch { return nil }
    } catch {
      return nil
    }
  }
}
