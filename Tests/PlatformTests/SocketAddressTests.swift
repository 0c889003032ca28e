import Bytes
import Glibc
import Testing

@testable import Platform

@Suite struct SocketAddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1:80"), ("0.0.0.0", "0.0.0.0:80"), ("255.255.255.255", "255.255.255.255:80"),
    ("::1", "[::1]:80"), ("2001:DB8:0:0::1", "[2001:db8::1]:80"), ("::ffff:192.0.2.1", "[::ffff:192.0.2.1]:80"),
    ("fe80::1", "[fe80::1]:80"),
  ])
  func `a literal is read and written back`(literal: String, text: String) throws {
    let address = try #require(SocketAddress(literal: literal, port: 80))
    #expect(address.description == text)
    #expect(address.port == 80)
    // To the kernel's form and back.
    let copy = address.withSockaddr { SocketAddress(UnsafeRawBufferPointer(start: $0, count: Int($1))) }
    #expect(copy == address)
  }

  @Test(arguments: [
    "", "localhost", "127.1", "127.0.0.1:80", "[::1]", "0x7f.0.0.1", "2130706433", "127.0.0.01.1", "1.2.3.256", " ::1",
    "fe80::1%lo",
  ])
  func `anything else is no literal`(text: String) {
    #expect(SocketAddress(literal: text, port: 80) == nil)
  }

  @Test(arguments: [
    ("127.0.0.1", true), ("127.255.255.254", true), ("::1", true), ("::ffff:127.0.0.1", true), ("128.0.0.1", false),
    ("0.0.0.0", false), ("10.0.0.1", false), ("::", false), ("::2", false), ("::ffff:128.0.0.1", false),
    ("2001:db8::7f00:1", false), ("169.254.169.254", false), ("fe80::1", false), ("64:ff9b::127.0.0.1", false),
  ])
  func `loopback addresses are told from others`(literal: String, isLoopback: Bool) throws {
    let address = try #require(SocketAddress(literal: literal, port: 80))
    #expect(address.isLoopback == isLoopback)
    #expect(address.bytes.count == (literal.contains(":") ? 16 : 4))
  }

  @Test func `unix sockets are on this machine, and have a path if they have a name`() {
    let address = SocketAddress(.unix(path: "/run/a.sock"))
    #expect(address.isLoopback)
    #expect(address.bytes.isEmpty)
    #expect(address.description == "unix:/run/a.sock")
    #expect(address.host == "/run/a.sock")
    #expect(address.port == 0)
    let copy = address.withSockaddr { SocketAddress(UnsafeRawBufferPointer(start: $0, count: Int($1))) }
    #expect(copy == address)
    #expect(SocketAddress(.unix(path: "")).host == "unix")
    #expect(SocketAddress.unixPathLimit == 107)
  }

  @Test func `cut or foreign forms of the kernel's are no addresses`() {
    var raw = sockaddr_in()
    raw.sin_family = sa_family_t(AF_INET)
    withUnsafeBytes(of: &raw) { bytes in
      #expect(SocketAddress(UnsafeRawBufferPointer(rebasing: bytes[..<1])) == nil)
      #expect(SocketAddress(UnsafeRawBufferPointer(rebasing: bytes[..<8])) == nil)
      #expect(SocketAddress(bytes) != nil)
    }
    raw.sin_family = sa_family_t(AF_PACKET)
    withUnsafeBytes(of: &raw) { #expect(SocketAddress($0) == nil) }
  }
}
