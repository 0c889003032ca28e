// The answer to Envoy's question in its gRPC form, made of the answer in the HTTP form (envoy/service/auth/v3).

internal import Bytes
package import HTTP

/// A `CheckResponse`.
package struct CheckResponse {
  /// The field of the token or key.
  package var credentialField: String
  /// The names of fields that must not reach the API.
  package var strayNames: [ArraySlice<UInt8>]
  /// True if the token goes into Envoy's dynamic metadata, too.
  package var hasMetadata: Bool

  package init(credentialField: String, strayNames: [ArraySlice<UInt8>], hasMetadata: Bool) {
    self.credentialField = credentialField
    self.strayNames = strayNames
    self.hasMetadata = hasMetadata
  }

  /// The actions of a `HeaderValueOption`.
  private enum Action: UInt64 {
    case append = 0
    case overwrite = 2
  }

  /// The message with the meaning of an answer in the HTTP form. `bytes` is its head, and its content behind that.
  package func message(_ head: borrowing ResponseHead, _ bytes: Span<UInt8>, content: Span<UInt8>) -> [UInt8] {
    var message = ProtobufWriter()
    guard head.status == 200 else {
      message.message(1) { $0.number(1, UInt64(GRPCStatus(http: head.status).rawValue)) }
      var denied = ProtobufWriter()
      denied.message(1) { $0.number(1, UInt64(head.status)) }
      for index in 0..<head.fields.count {
        let line = head.fields[index]
        switch line.known {
        case .connection, .contentLength, .transferEncoding, .date: continue
        default: break
        }
        let isFirst = head.fields.index(of: line.known).map { $0 == index || line.known == .other } ?? true
        Self.write(
          &denied, 2, bytes.extracting(line.name).array, bytes.extracting(line.value).array,
          isFirst ? .overwrite : .append)
      }
      denied.bytes(3, content.array)
      message.bytes(2, denied.bytes)
      return message.bytes
    }
    message.message(1) { _ in }
    var allowed = ProtobufWriter()
    var names = strayNames
    let name = Array(credentialField.lowercased().utf8)
    let value = head.fields.first(named: name, in: bytes).map { bytes.extracting($0.value).array }
    if let value { Self.write(&allowed, 2, name, value, .overwrite) } else { names.append(name[...]) }
    for name in names { allowed.bytes(5, name) }
    message.bytes(3, allowed.bytes)
    if hasMetadata, let value { Self.writeMetadata(name, value, into: &message) }
    return message.bytes
  }

  private static func write(
    _ message: inout ProtobufWriter, _ field: UInt32, _ name: [UInt8], _ value: [UInt8], _ action: Action
  ) {
    message.message(field) { option in
      option.message(1) {
        $0.bytes(1, name)
        $0.bytes(2, value)
      }
      option.number(3, action.rawValue)
    }
  }

  // A `google.protobuf.Struct` with one text.
  private static func writeMetadata(_ name: [UInt8], _ value: [UInt8], into message: inout ProtobufWriter) {
    message.message(4) {
      $0.message(1) {
        $0.bytes(1, name)
        $0.message(2) { $0.bytes(3, value) }
      }
    }
  }
}

extension Span<UInt8> {
  fileprivate var array: [UInt8] { indices.map { self[$0] } }
}
