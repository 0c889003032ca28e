// Owns reading an application's proof from a file that somebody else keeps fresh: a pod's projected service-account token. It is read for
// each request, for it lives an hour and is replaced without notice.

internal import Glibc
public import Network
internal import Tokens

/// Why there is no proof.
public enum ClientAssertionError: Error, Sendable, Hashable {
  /// The file cannot be read.
  case unreadable(path: String, SystemError)
  /// What stands in the file is no JWT: nothing of it is sent.
  case notSigned(path: String)
}

/// The file.
struct ClientAssertionFile: Sendable {
  let path: String

  private static let queue = FileQueue("assertion")
  /// More than any token.
  private static let limit = 64 << 10

  /// The token that stands there now. Links are followed: a kubelet replaces what they lead to.
  func read() async throws(ClientAssertionError) -> Secret {
    let result = await Self.queue.run { [path] in Self.contents(of: path) }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try result.get()
    } catch {
      throw .unreadable(path: path, error)
    }
    let text = String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    do throws(JWTFormatError) {
      _ = try SignedJWT(text)
    } catch {
      throw .notSigned(path: path)
    }
    return Secret(text)
  }

  private static func contents(of path: String) -> Result<[UInt8], SystemError> {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return .failure(SystemError("open")) }
    defer { close(descriptor) }
    var contents: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 8192)
    while contents.count <= limit {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count == 0 { return .success(contents) }
      if count < 0 {
        if errno == EINTR { continue }
        return .failure(SystemError("read"))
      }
      contents += chunk[..<count]
    }
    return .failure(SystemError("read", EFBIG))
  }
}
