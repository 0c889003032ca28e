// Owns where the bytes of a request's body go: kept while they are few, or digested and forgotten.

internal import HTTP
internal import Network

/// Takes a body piece by piece.
final class BodySink {
  /// Bytes kept at most.
  static let limit = 64 * 1024

  private var kept: [UInt8] = []
  private var digest: RunningDigest?
  private var byteCount: UInt64 = 0

  init(digesting: Bool) throws(ConnectionEnd) {
    do throws(CryptoError) {
      digest = digesting ? try RunningDigest(.sha256) : nil
    } catch {
      throw .refused(status: 500)
    }
  }

  /// Takes the bytes of `range`; refuses those that are more than is kept.
  func take(_ buffer: Span<UInt8>, _ range: Range<Int>) throws(ConnectionEnd) {
    let bytes = buffer.extracting(range)
    byteCount += UInt64(bytes.count)
    do throws(CryptoError) {
      if try digest?.update(bytes) != nil { return }
    } catch {
      throw .refused(status: 500)
    }
    guard byteCount <= Self.limit else { throw .refused(status: 413) }
    bytes.withUnsafeBufferPointer { kept.append(contentsOf: $0) }
  }

  /// What arrived; the end of this sink.
  func finish() throws(ConnectionEnd) -> ReceivedBody {
    guard let digest = digest.take() else { return .whole(kept) }
    do throws(CryptoError) {
      return .digest(byteCount: byteCount, sha256: try digest.finish())
    } catch {
      throw .refused(status: 500)
    }
  }
}
