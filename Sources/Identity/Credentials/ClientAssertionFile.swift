// Owns reading an application's proof from a file that another program keeps fresh: a pod's projected service-account
// token. It is read for each request, for it lives an hour and is replaced without notice.

internal import Bytes
internal import Platform
internal import Tokens

/// A file with an application's proof.
struct ClientAssertionFile: Sendable {
  let path: String

  private static let queue = FileQueue("assertion")
  /// More than any token.
  private static let limit = 64 << 10

  /// The token that stands there now. Links are followed: a kubelet replaces what they lead to.
  func read() async throws(ClientAssertionError) -> Secret {
    let result = await Self.queue.run { [path] () -> Result<[UInt8], FileReadError> in
      do throws(FileReadError) {
        return .success(try ReadableFile.contents(of: path, limit: Self.limit))
      } catch {
        return .failure(error)
      }
    }
    let bytes: [UInt8]
    do throws(FileReadError) {
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
}
