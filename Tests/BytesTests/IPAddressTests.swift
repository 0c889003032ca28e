// IP addresses: the C library reads and writes the same ones.

import Glibc
import Testing

@testable import Bytes

@Suite struct IPAddressTests {
  static let literals = [
    "0.0.0.0", "1.2.3.4", "255.255.255.255", "127.0.0.1", "::", "::1", "1::", "::1.2.3.4", "::ffff:1.2.3.4",
    "::ffff:0:1.2.3.4", "64:ff9b::7f00:1", "2001:db8::1", "2001:DB8:0:0:1::1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8", "1:0:0:2:0:0:0:3", "1:0:0:2:0:0:3:4", "1:0:2:0:3:0:4:0", "0:0:0:0:0:0:0:1", "fe80::a9fe:a9fe",
    "1:2:3:4:5:6:1.2.3.4", "::5:6:1.2.3.4", "0001:00a0::", "0:0:1::", "::1:0:0",
  ]
  static let others = [
    "", ".", ":", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3", "01.2.3.4", "1.2.3.256", "1.2.3.1000",
    "0x1.2.3.4", " 1.2.3.4", "1.2.3.4 ", "localhost", ":::", "::1::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::", ":1:2:3:4:5:6:7", "12345::", "g::", "::1.2.3", "1.2.3.4::", "::1.2.3.4:5", "[::1]", "::1%lo",
    "1:2:3:4:5:6:7:1.2.3.4", "::ffff:01.2.3.4",
  ]

  @Test(arguments: literals)
  func `an address is read and written as the C library does`(text: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.bytes == Self.systemBytes(text))
    #expect(address.description == Self.systemText(address.bytes))
    #expect(IPAddress(address.description) == address)
  }

  @Test(arguments: others)
  func `anything else is no address`(text: String) {
    #expect(IPAddress(text) == nil)
    #expect(Self.systemBytes(text) == nil)
  }

  @Test func `the same holds for one wrong letter anywhere`() {
    for literal in Self.literals {
      for index in 0..<literal.utf8.count {
        for letter in "0:.f9 g%".utf8 {
          var bytes = Array(literal.utf8)
          bytes[index] = letter
          let text = String(decoding: bytes, as: UTF8.self)
          #expect(IPAddress(text)?.bytes == Self.systemBytes(text), "\(text)")
        }
      }
    }
  }

  @Test func `every pattern of zero groups is written as the C library does`() {
    for pattern in 0..<256 {
      var bytes = [UInt8](0xA0..<0xB0)
      for group in 0..<8 where (pattern >> group) & 1 == 1 {
        bytes[2 * group] = 0
        bytes[2 * group + 1] = 0
      }
      #expect(IPAddress.v6(bytes).description == Self.systemText(bytes))
    }
  }

  @Test(arguments: [
    ("127.0.0.1", true, false), ("127.255.0.9", true, false), ("::1", true, false), ("::ffff:127.0.0.1", true, false),
    ("128.0.0.1", false, false), ("::2", false, false), ("::ffff:10.0.0.1", false, false), ("0.0.0.0", false, true),
    ("::", false, true), ("::ffff:0.0.0.0", false, true), ("64:ff9b::127.0.0.1", false, false),
  ])
  func `loopback and unspecified addresses are told from others`(text: String, isLoopback: Bool, isEverywhere: Bool) {
    #expect(IPAddress(text)?.isLoopback == isLoopback)
    #expect(IPAddress(text)?.isUnspecified == isEverywhere)
  }

  private static func systemBytes(_ text: String) -> [UInt8]? {
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
    if inet_pton(AF_INET6, text, &six) == 1 { return withUnsafeBytes(of: &six) { Array($0) } }
    return nil
  }

  private static func systemText(_ bytes: [UInt8]) -> String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  @Test(arguments: [
    ("93.184.216.34", true), ("10.0.0.1", false), ("172.16.0.1", false), ("172.32.0.1", true), ("192.168.1.1", false),
    ("127.0.0.1", false), ("0.0.0.0", false), ("169.254.169.254", false), ("100.64.0.1", false), ("100.128.0.1", true),
    ("198.18.0.1", false), ("224.0.0.1", false), ("255.255.255.255", false), ("192.0.0.192", false), ("::1", false),
    ("::", false), ("fd00::1", false), ("fe80::1", false), ("2606:4700::1", true), ("::ffff:10.0.0.1", false),
    ("::ffff:93.184.216.34", true), ("64:ff9b::10.0.0.1", false), ("64:ff9b::93.184.216.34", true),
    ("2002:a00:1::", false), ("2001:0:1::", false), ("ff02::1", false), ("::10.0.0.1", false),
  ])
  func `addresses of private networks and of this machine are told from public ones`(text: String, isPublic: Bool) {
    #expect(IPAddress(text)?.isPublic == isPublic)
  }
}
