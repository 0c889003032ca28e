// Addresses and names of a cloud's metadata service, in every spelling that leads there.

import Bytes
import HTTP
import Platform
import Testing

@Suite struct MetadataServiceTests {
  @Test(arguments: [
    // Link-local as a whole.
    ("169.254.169.254", true), ("169.254.0.1", true), ("169.254.170.2", true), ("169.253.255.255", false),
    ("169.255.0.0", false), ("fe80::1", true), ("febf::1", true), ("fec0::1", false), ("fe7f::1", false),
    ("fe80::a9fe:a9fe", true),
    // The others, each with its neighbour.
    ("100.100.100.200", true), ("100.100.100.201", false), ("168.63.129.16", true), ("168.63.129.17", false),
    ("192.0.0.192", true), ("192.0.0.193", false), ("fd00:ec2::254", true), ("fd00:ec2::255", false),
    ("fd00:ec2::23", true), ("fd00:ec2::24", false), ("fd20:ce::254", true), ("fd20:ce::253", false),
    ("fd00:c1::a9fe:a9fe", true), ("fd00:c1::a9fe:a9ff", false), ("fd00:42::42", true), ("fd00:42::43", false),
    ("fd00:a9fe:a9fe::1", true), ("fd00:a9fe:a9fe::2", false), ("fd00:100::100:200", true),
    ("fd00:100::100:201", false),
    // IPv4 in IPv6: mapped, compatible, translated, behind a translator, 6to4.
    ("::ffff:169.254.169.254", true), ("::ffff:100.100.100.200", true), ("::ffff:169.253.1.1", false),
    ("::169.254.169.254", true), ("::ffff:0:169.254.169.254", true), ("64:ff9b::169.254.169.254", true),
    ("64:ff9b::168.63.129.16", true), ("64:ff9b::192.0.2.1", false), ("64:ff9b:1::169.254.169.254", true),
    ("64:ff9b:1:a9fe:a9:fe00::", true), ("64:ff9b:1:1:a9:fea9:fe00:0", true), ("64:ff9b:1::192.0.2.1", false),
    ("2002:a9fe:a9fe::", true), ("2002:a9fe:a9fe::1", true), ("2002:c000:201::", false),
    // Addresses beside these, and unspecified ones.
    ("127.0.0.1", false), ("::1", false), ("::", false), ("10.0.0.1", false), ("2001:db8::1", false),
  ])
  func `addresses of metadata services are told from others`(literal: String, isForbidden: Bool) throws {
    let address = try #require(SocketAddress(literal: literal, port: 80))
    #expect(MetadataService.mayBe(at: address.bytes) == isForbidden)
  }

  @Test(arguments: [
    ("metadata.google.internal", true), ("METADATA.google.internal.", true), ("metadata", true),
    ("instance-data.ec2.internal", true), ("metadata.tencentyun.com", true), ("metadata.example", false),
    ("google.internal", false), ("", false),
  ])
  func `names of metadata services are told from others`(name: String, isForbidden: Bool) {
    #expect(MetadataService.isNamed(name) == isForbidden)
  }

  @Test func `each listed address has the length of one`() {
    #expect(MetadataService.addresses.allSatisfy { [4, 16].contains($0.count) })
  }

  @Test func `a unix socket is none`() {
    #expect(!MetadataService.mayBe(at: SocketAddress(.unix(path: "/run/a.sock")).bytes))
  }
}
