// The encrypted form of a cache: of its whole file, of each shard on a Redis server, and of the texts beside them.
//
// "bearer-proxy cache 1\n", 8 bytes that name the key, a nonce of 24, the text encrypted with XAES-256-GCM, its tag of
// 16. Bound to it, and not in it: the place, which is the file's name or the whole Redis key.

package import Bytes
public import Platform

/// A text that cannot be read with the keys. It must not be overwritten.
public enum CacheSealError: Error, Sendable, Hashable {
  /// It was encrypted, and is no longer.
  case plain
  /// It is encrypted with the key of this name, and there is no key.
  case keyless(key: String)
  /// It is encrypted with the key of this name, which is none of the keys.
  case otherKey(String)
  /// It has changed, or was encrypted for another place.
  case broken(key: String)
  /// The cryptography library fails.
  case library(CryptoError)
}

/// Encrypts a cache's texts, each bound to its place. The first key encrypts; each of them decrypts. A text that is not
/// encrypted can be read, so that a cache of before is taken over. Without keys, texts stay as they are.
package struct CacheSeal: Sendable {
  private struct Key: Sendable {
    let name: [UInt8]
    let secret: Secret
  }

  /// A text that was read.
  struct Opened {
    var text: [UInt8]
    var isSealed: Bool
    /// True if it would have the same form today, but for the nonce.
    var isCurrent: Bool
  }

  private static let mark = Array("bearer-proxy cache 1\n".utf8)
  private static let nameCount = 8

  private let keys: [Key]

  package static let none = CacheSeal(keys: [])

  private init(keys: [Key]) { self.keys = keys }

  /// - Parameter secrets: keys of 32 bytes.
  package init(_ secrets: [Secret]) throws(CryptoError) {
    var keys: [Key] = []
    for secret in secrets {
      // A digest tells nothing of 32 random bytes.
      let text = Secret(prefix: "bearer-proxy cache key ", secret)
      keys.append(Key(name: Array(try SHA256.digest(of: text.bytes).prefix(Self.nameCount)), secret: secret))
    }
    self.keys = keys
  }

  /// The names of the keys, that which encrypts first; `clear` if there are none.
  var keyNames: [String] { keys.isEmpty ? ["clear"] : keys.map { Self.words($0.name) } }

  /// The numbers of a name, one for each key, 53 bits of an HMAC: without the key no name can be tried.
  func numbers(of name: String) throws(CacheSealError) -> [UInt64] {
    let text = Array(("bearer-proxy cache name " + name).utf8)
    do throws(CryptoError) {
      var numbers: [UInt64] = []
      for key in keys { numbers.append(Self.number(try HMAC.sha256(of: text.span, key: key.secret.bytes))) }
      return numbers.isEmpty ? [Self.number(try SHA256.digest(of: text.span))] : numbers
    } catch {
      throw .library(error)
    }
  }

  private static func number(_ digest: some Sequence<UInt8>) -> UInt64 {
    digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } >> 11
  }

  private static func words(_ name: some Sequence<UInt8>) -> String {
    name.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
  }

  /// The form of a text at a place.
  func seal(_ text: [UInt8], at place: String) throws(CacheSealError) -> [UInt8] {
    guard let key = keys.first, !text.isEmpty else { return text }
    do throws(CryptoError) {
      let head = Self.mark + key.name
      let nonce = try RandomBytes.make(AuthenticatedCipher.nonceCount)
      return try head + nonce
        + AuthenticatedCipher.seal(text, key: key.secret.bytes, nonce: nonce, bound: head + Array(place.utf8))
    } catch {
      throw .library(error)
    }
  }

  /// The text of a form at a place.
  func open(_ form: [UInt8], at place: String) throws(CacheSealError) -> Opened {
    guard form.starts(with: Self.mark) else {
      return Opened(text: form, isSealed: false, isCurrent: keys.isEmpty || form.isEmpty)
    }
    let head = Array(form.prefix(Self.mark.count + Self.nameCount))
    let name = head.dropFirst(Self.mark.count)
    let words = Self.words(name)
    if keys.isEmpty { throw .keyless(key: words) }
    guard let index = keys.firstIndex(where: { $0.name.elementsEqual(name) }) else { throw .otherKey(words) }
    let body = form.dropFirst(head.count)
    let nonce = Array(body.prefix(AuthenticatedCipher.nonceCount))
    guard nonce.count == AuthenticatedCipher.nonceCount else { throw .broken(key: words) }
    let secret = keys[index].secret
    let text = try mapping(
      CacheSealError.library,
      AuthenticatedCipher.open(
        body.dropFirst(nonce.count), key: secret.bytes, nonce: nonce, bound: head + Array(place.utf8)))
    guard let text else { throw .broken(key: words) }
    return Opened(text: text, isSealed: true, isCurrent: index == 0)
  }
}

/// A text beside the cache, encrypted like it. One that cannot be read is left as it is.
struct SealedText: SharedText {
  let text: any SharedText
  let seal: CacheSeal
  let place: String

  func read() async -> [UInt8]? {
    guard let form = await text.read() else { return nil }
    do throws(CacheSealError) { return try seal.open(form, at: place).text } catch { return nil }
  }

  func change(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async -> Bool {
    let isReadable = Locked(true)
    let isWritten = await text.change { [seal, place] form in
      do throws(CacheSealError) {
        let opened = try seal.open(form, at: place)
        guard let next = change(opened.text) else { return nil }
        return next == opened.text && opened.isCurrent ? form : try seal.seal(next, at: place)
      } catch {
        isReadable.withLock { $0 = false }
        return nil
      }
    }
    return isWritten && isReadable.withLock { $0 }
  }
}
