// The one list of the addresses and names at which clouds give a machine its own credentials, for the configuration and
// for connecting. It parses no text and resolves no name.

/// The clouds' metadata services: never an upstream, a provider or a proxy.
package enum MetadataService {
  /// The addresses, 4 or 16 bytes in network order, outside of the link-local ranges, which are refused as a whole:
  /// 169.254.169.254 of most clouds, 169.254.170.2 (ECS), 169.254.170.23 (EKS), 169.254.42.42 (Scaleway), 169.254.0.23
  /// (Tencent) and fe80::a9fe:a9fe (OpenStack, Akamai) are in them.
  package static let addresses: Set<[UInt8]> = [
    // Alibaba Cloud: https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
    [100, 100, 100, 200], v6(0xFD00, 0x0100, 0, 0, 0, 0, 0x0100, 0x0200),
    // Azure's host agent: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
    [168, 63, 129, 16],
    // Oracle Cloud Infrastructure Classic:
    // https://docs.oracle.com/en/cloud/iaas-classic/compute-iaas-cloud/stcsg/retrieving-instance-metadata.html
    [192, 0, 0, 192],
    // Oracle Cloud: https://github.com/oracle/oci-python-sdk (instance_principals_security_token_signer.py)
    v6(0xFD00, 0x00C1, 0, 0, 0, 0, 0xA9FE, 0xA9FE),
    // AWS EC2: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
    v6(0xFD00, 0x0EC2, 0, 0, 0, 0, 0, 0x0254),
    // AWS ECS and EKS, the Pod Identity agent:
    // https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
    v6(0xFD00, 0x0EC2, 0, 0, 0, 0, 0, 0x0023),
    // Google Cloud: https://cloud.google.com/compute/docs/metadata/querying-metadata
    v6(0xFD20, 0x00CE, 0, 0, 0, 0, 0, 0x0254),
    // Scaleway: https://docs.cloud-init.io/en/latest/reference/datasources/scaleway.html
    v6(0xFD00, 0x0042, 0, 0, 0, 0, 0, 0x0042),
    // Akamai (Linode): https://docs.cloud-init.io/en/latest/reference/datasources/akamai.html
    v6(0xFD00, 0xA9FE, 0xA9FE, 0, 0, 0, 0, 1),
  ]

  /// The names, in lower case.
  private static let names: Set<String> = [
    // Google Cloud, the last by its search domain: https://cloud.google.com/compute/docs/metadata/querying-metadata
    "metadata.google.internal", "metadata.goog", "metadata",
    // AWS EC2, the first by its search domain: https://docs.cloud-init.io/en/latest/reference/datasources/ec2.html
    "instance-data", "instance-data.ec2.internal",
    // Tencent Cloud: https://www.tencentcloud.com/document/product/213/4934
    "metadata.tencentyun.com",
  ]

  /// True if a metadata service may be at an address of 4 or 16 bytes in network order: link-local (RFC 3927, RFC 4291
  /// §2.5.6), listed above, or an IPv6 form of such an IPv4 address.
  package static func mayBe(at address: [UInt8]) -> Bool {
    if addresses.contains(address) { return true }
    switch address.count {
    case 4: return address[0] == 169 && address[1] == 254
    case 16:
      if address[0] == 0xFE, address[1] & 0xC0 == 0x80 { return true }
      return embedded(in: address).contains { mayBe(at: $0) }
    default: return false
    }
  }

  /// True if a host's name is one of a metadata service, in any letter case and with or without the root's dot.
  package static func isNamed(_ host: String) -> Bool {
    let name = host.lowercased()
    return names.contains(name.hasSuffix(".") ? String(name.dropLast()) : name)
  }

  /// The IPv4 addresses that an IPv6 address may lead to, through the stack of this machine or a translator's.
  private static func embedded(in bytes: [UInt8]) -> [[UInt8]] {
    let last = Array(bytes[12...])
    for prefix in prefixesBeforeLastFour where bytes.starts(with: prefix) { return [last] }
    // 6to4 (RFC 3056 §2).
    if bytes[0] == 0x20, bytes[1] == 0x02 { return [Array(bytes[2..<6])] }
    // A network's own prefix below 64:ff9b:1::/48 may be of several lengths; byte 8 is left out (RFC 8215, RFC 6052
    // §2.2).
    if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 1]) {
      return [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]].map { $0.map { bytes[$0] } }
    }
    return []
  }

  private static let prefixesBeforeLastFour: [[UInt8]] = [
    // IPv4-mapped (RFC 4291 §2.5.5.2), IPv4-compatible (§2.5.5.1) and IPv4-translated (RFC 2765 §2.1).
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0],
    // The translators' well-known prefix, 64:ff9b::/96 (RFC 6052 §2.1).
    [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0],
  ]

  private static func v6(_ groups: UInt16...) -> [UInt8] {
    groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
  }
}
