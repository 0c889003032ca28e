// The published network policy beside the list of metadata services.

import Bytes
import FoundationEssentials
import Testing

@testable import Configuration

@Suite struct `The network policy` {
  @Test func `keeps the pod from every metadata service's address and from the link-local ranges`() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../deploy/kubernetes/base/networkpolicy.yaml").standardized
    var issues: [ConfigurationIssue] = []
    let root = try #require(YAMLNode.read([UInt8](Data(contentsOf: file)), file: "policy", issues: &issues))
    #expect(issues.isEmpty)
    let excepted = Set(Self.scalars(below: "except", in: root))
    let listed = MetadataService.addresses.map { address in
      address.count == 4 ? "\(IPAddress.v4(address))/32" : "\(IPAddress.v6(address))/128"
    }
    #expect(excepted == Set(listed + ["169.254.0.0/16", "fe80::/10"]))
  }

  /// The scalars of every list under a key.
  private static func scalars(below key: String, in node: YAMLNode) -> [String] {
    switch node.content {
    case .scalar, .empty: []
    case .sequence(let elements): elements.flatMap { scalars(below: key, in: $0) }
    case .mapping(let members):
      members.flatMap { member -> [String] in
        guard member.key == key, case .sequence(let elements) = member.value.content else {
          return scalars(below: key, in: member.value)
        }
        return elements.compactMap { if case .scalar(let text) = $0.content { text } else { nil } }
      }
    }
  }
}
