// The answer to Envoy's question in its gRPC form, made of the answer in the HTTP form (envoy/service/auth/v3), and the
// answers to messages of a `Process` call (envoy/service/ext_proc/v3).

internal import Bytes
package import HTTP

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

  /// A `HeaderValue` in the messages of a filter, and the numbers of the fields of a mutation.
  private struct Form {
    /// ext_authz reads a value as text, ext_proc as bytes.
    var value: UInt32
    var set: UInt32
    var removed: UInt32

    static let check = Form(value: 2, set: 2, removed: 5)
    static let processing = Form(value: 3, set: 1, removed: 2)
  }

  /// The actions of a `HeaderValueOption`.
  private enum Action: UInt64 {
    case append = 0
    case overwrite = 2
  }

  /// The `CheckResponse` with the meaning of an answer in the HTTP form. `bytes` is its head, and its content behind
  /// that.
  package func message(_ head: borrowing ResponseHead, _ bytes: Span<UInt8>, content: Span<UInt8>) -> [UInt8] {
    var message = ProtobufWriter()
    guard head.status == 200 else {
      message.message(1) { $0.number(1, UInt64(GRPCStatus(http: head.status).rawValue)) }
      var denied = ProtobufWriter()
      denied.message(1) { $0.number(1, UInt64(head.status)) }
      Self.writeFields(.check, head, bytes, into: &denied)
      denied.bytes(3, content.array)
      message.bytes(2, denied.bytes)
      return message.bytes
    }
    message.message(1) { _ in }
    let value = credential(head, bytes)
    var allowed = ProtobufWriter()
    writeMutation(.check, value, into: &allowed)
    message.bytes(3, allowed.bytes)
    if hasMetadata, let value {
      message.message(4) { Self.writeText(name, value, into: &$0) }
    }
    return message.bytes
  }

  /// The `ProcessingResponse` to the head of a request, with the meaning of an answer in the HTTP form. Behind a
  /// refusal nothing follows. `replacement` is sent in the place of the token.
  package func processing(
    _ head: borrowing ResponseHead, _ bytes: Span<UInt8>, content: Span<UInt8>, replacement: ArraySlice<UInt8>?
  ) -> [UInt8] {
    var message = ProtobufWriter()
    guard head.status == 200 else {
      var immediate = ProtobufWriter()
      immediate.message(1) { $0.number(1, UInt64(head.status)) }
      var fields = ProtobufWriter()
      Self.writeFields(.processing, head, bytes, into: &fields)
      immediate.bytes(2, fields.bytes)
      immediate.bytes(3, content.array)
      message.bytes(7, immediate.bytes)
      return message.bytes
    }
    var mutation = ProtobufWriter()
    writeMutation(.processing, replacement.map(Array.init) ?? credential(head, bytes), into: &mutation)
    message.message(1) { $0.message(1) { $0.bytes(2, mutation.bytes) } }
    return message.bytes
  }

  /// The `ProcessingResponse` to the head of an API's response. With a token in the place of the refused one, a field
  /// tells Envoy to send the request again, and the metadata keep the token for that.
  package static func processing(again token: [UInt8]?) -> [UInt8] {
    let field = Array("x-bearer-again".utf8)
    var (mutation, message) = (ProtobufWriter(), ProtobufWriter())
    if token == nil {
      mutation.bytes(Form.processing.removed, field)
    } else {
      write(&mutation, .processing, field, Array("yes".utf8), .overwrite)
    }
    message.message(2) { $0.message(1) { $0.bytes(2, mutation.bytes) } }
    if let token {
      var namespace = ProtobufWriter()
      writeText(Array("token".utf8), token, into: &namespace)
      message.message(8) {
        $0.message(1) {
          $0.bytes(1, ProcessedResponse.namespace.utf8)
          $0.message(2) { $0.bytes(5, namespace.bytes) }
        }
      }
    }
    return message.bytes
  }

  /// The `ProcessingResponse` to another part, which stays as it is.
  package static func processing(other number: UInt32) -> [UInt8] {
    var message = ProtobufWriter()
    message.message(number - 1) { _ in }
    return message.bytes
  }

  // MARK: Parts

  private var name: [UInt8] { Array(credentialField.lowercased().utf8) }

  private func credential(_ head: borrowing ResponseHead, _ bytes: Span<UInt8>) -> [UInt8]? {
    head.fields.first(named: name, in: bytes).map { bytes.extracting($0.value).array }
  }

  /// Writes the field of the credential, and the names of those that must not reach the API.
  private func writeMutation(
    _ form: Form, _ value: [UInt8]?, into message: inout ProtobufWriter
  ) {
    var names = strayNames
    if let value { Self.write(&message, form, name, value, .overwrite) } else { names.append(name[...]) }
    for name in names { message.bytes(form.removed, name) }
  }

  private static func writeFields(
    _ form: Form, _ head: borrowing ResponseHead, _ bytes: Span<UInt8>, into message: inout ProtobufWriter
  ) {
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      switch line.known {
      case .connection, .contentLength, .transferEncoding, .date: continue
      default: break
      }
      let isFirst = head.fields.index(of: line.known).map { $0 == index || line.known == .other } ?? true
      write(
        &message, form, bytes.extracting(line.name).array, bytes.extracting(line.value).array,
        isFirst ? .overwrite : .append)
    }
  }

  private static func write(
    _ message: inout ProtobufWriter, _ form: Form, _ name: [UInt8], _ value: [UInt8], _ action: Action
  ) {
    message.message(form.set) { option in
      option.message(1) {
        $0.bytes(1, name)
        $0.bytes(form.value, value)
      }
      option.number(3, action.rawValue)
    }
  }

  /// Writes a `google.protobuf.Struct` with one text.
  private static func writeText(_ name: [UInt8], _ value: [UInt8], into message: inout ProtobufWriter) {
    message.message(1) {
      $0.bytes(1, name)
      $0.message(2) { $0.bytes(3, value) }
    }
  }
}
