// Owns the words for what was wrong with a request, for people. The cases and their meaning are the HTTP module's.

internal import HTTP

extension RequestHeadError {
  /// Completes "not acceptable HTTP/1.1:".
  var words: String {
    switch self {
    case .requestLine: "the request line is not 'METHOD target HTTP/1.1'"
    case .method: "the method is not a token"
    case .target: "the request target has a form or a byte that is not allowed"
    case .targetTooLong: "the request target is too long"
    case .userInformation: "the request target carries user information"
    case .version: "the HTTP version is not spelt as one"
    case .versionUnsupported: "the HTTP version is not supported"
    case .lineEnd: "a line does not end with CR LF"
    case .emptyLines: "too many empty lines before the request"
    case .field(let error): error.words
    case .headTooLarge: "the head is too large"
    case .hostMissing: "there is no Host field"
    case .hostRepeated: "there is more than one Host field"
    case .hostInvalid: "the Host field is not a host and port"
    case .hostDisagrees: "the Host field and the request target name different hosts"
    case .connectionOptions: "the Connection field is not a list of options"
    }
  }
}

extension FieldSyntaxError {
  /// As above.
  var words: String {
    switch self {
    case .name: "a field name is not a token"
    case .spaceBeforeColon: "white space stands before a field's colon"
    case .folding: "a field is folded over several lines"
    case .value: "a field value holds a control byte"
    case .lineEnd: "a field line does not end with CR LF"
    case .tooMany: "there are too many fields"
    }
  }
}

extension FramingError {
  /// Completes "cannot be told:".
  var words: String {
    switch self {
    case .contentLengthInvalid: "Content-Length is not a decimal number"
    case .contentLengthRepeated: "there is more than one Content-Length"
    case .bothLengths: "there are both Content-Length and Transfer-Encoding"
    case .transferEncodingInHTTP10: "HTTP/1.0 has no Transfer-Encoding"
    case .transferEncodingInvalid: "Transfer-Encoding is not 'chunked'"
    case .transferCodingUnknown: "a transfer coding other than chunked"
    }
  }
}

extension PathError {
  /// Completes "no one meaning:".
  var words: String {
    switch self {
    case .notAbsolute: "it does not begin with a slash"
    case .percentEncoding: "a percent sign is not followed by two hexadecimal digits"
    case .control: "it holds a control byte"
    case .backslash: "it holds a backslash"
    case .climbsAboveRoot: "it climbs above the root"
    case .hiddenDotSegment: "it holds a dot segment that only some servers see"
    case .doubleEncoding: "a dot or slash is encoded more than once"
    case .overlong: "it holds an overlong UTF-8 sequence"
    case .otherRoute: "some servers take it for a path of another route"
    }
  }
}
