// The watched certificate of a file of authorities.

import Platform
import Testing

@testable import bearer_proxy

@Suite struct WatchedCertificatesTests {
  private static func authority(_ name: String, ends: Int64) -> CertificateFacts {
    CertificateFacts(subject: "/CN=\(name)", sha1: [], notBefore: 0, notAfter: ends)
  }

  static let files: [([(String, Int64)], Int64?)] = [
    ([], nil),
    ([("A", 10)], 10),
    ([("A", 10), ("B", 5)], 5),
    // A has a successor of the same name.
    ([("A", 10), ("A", 50), ("B", 40)], 40),
    ([("A", 50), ("A", 10)], 50),
    ((0..<20).map { ("A\($0)", Int64($0)) }, 0),
    // A bundle of public authorities.
    ((0..<21).map { ("A\($0)", Int64($0)) }, nil),
  ]

  @Test(arguments: files)
  func `the authority that ends first is watched, unless its successor is in the file`(
    file: [(String, Int64)], ends: Int64?
  ) {
    let authorities = file.map { Self.authority($0.0, ends: $0.1) }
    #expect(WatchedCertificates.firstToEnd(authorities)?.notAfter == ends)
  }
}
