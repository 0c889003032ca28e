import Bytes
import Testing

@testable import HTTP

@Suite struct RelayedChallengeTests {
  private static let rows: [(String, String)] = [
    (#"Bearer resource_metadata="https://a.example/x""#, "Bearer"),
    (
      #"Bearer error="invalid_token", resource_metadata="https://a.example/x", scope="a b""#,
      #"Bearer error="invalid_token", scope="a b""#
    ),
    (#"Bearer Resource_Metadata = "x",error=e"#, "Bearer error=e"),
    ("Bearer resource_metadata=x, error=e", "Bearer error=e"),
    ("Bearer resource_metadata=a, resource_metadata=b", "Bearer"),
    (#"Bearer realm="a,b\"c", resource_metadata="x""#, #"Bearer realm="a,b\"c""#),
    (
      #"DPoP algs="ES256", resource_metadata="x", Bearer resource_metadata="y", Basic realm="z""#,
      #"DPoP algs="ES256", Bearer, Basic realm="z""#
    ),
    ("Negotiate abc==, Bearer resource_metadata=x", "Negotiate abc==, Bearer"),
    // The result of a client that searches the whole field.
    (#"Bearer error_description="see resource_metadata=https://evil.example", error=e"#, "Bearer error=e"),
    (#"Bearer error=e, "resource_metadata="https://evil.example""#, "Bearer error=e"),
    (#"Bearer error=e, resource_metadata="https://unended"#, "Bearer error=e"),
    ("Bearer error=e, resource_metadata=https://evil.example/x", "Bearer error=e"),
    (#"resource_metadata="x""#, ""),
    ("resource_metadata", ""), ("", ""),
    (#"Bearer error="a",scope="b""#, #"Bearer error="a", scope="b""#),
  ]

  @Test(arguments: rows)
  func `a challenge loses the address of the upstream's metadata and nothing else`(value: String, expected: String) {
    var output = ByteBuffer(capacity: 16)
    RelayedChallenge.write(Array(value.utf8).span, into: &output)
    let written = output.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    #expect(written == expected)
    #expect(!Self.namesMetadata(written))
    #expect(Self.namesMetadata(value) == value.lowercased().contains("resource_metadata"))
  }

  private static func namesMetadata(_ value: String) -> Bool {
    RelayedChallenge.namesMetadata(Array(value.utf8).span)
  }
}
