// Owns the document behind `jwks_uri`. Keys it holds that are of no use here are passed over (RFC 7517 §5).

internal import FoundationEssentials

/// Why a document is not a key set.
package enum JWKSetError: Error, Sendable, Hashable {
  /// Not a JSON object with an array `keys`.
  case json
}

/// An issuer's public keys.
package struct JWKSet: Sendable, Hashable, Encodable {
  /// The usable keys in the document's order.
  package var keys: [JWK]

  /// A set of these keys.
  package init(keys: [JWK]) {
    self.keys = keys
  }

  /// Reads the document.
  package init(json: [UInt8]) throws(JWKSetError) {
    do {
      keys = try JSONDecoder().decode(Document.self, from: Data(json)).keys.compactMap(\.key)
    } catch {
      throw .json
    }
  }

  /// The keys that may have signed a token with this header; several where it names none.
  package func candidates(for header: JWTHeader) -> [JWK] {
    keys.filter { $0.fits(header) }
  }

  private struct Document: Decodable {
    var keys: [Entry]
  }

  private struct Entry: Decodable {
    var key: JWK?

    init(from decoder: any Decoder) throws {
      do {
        key = try JWK(from: decoder)
      } catch is JWKError {
        key = nil
      } catch is DecodingError {
        key = nil
      }
    }
  }
}
