// Owns what the process was asked to do, as data.

import Configuration

/// What to do, complete and checked as far as that is possible without reading a file.
enum Command: Equatable {
  /// Serve.
  case run(RunOptions)
  /// Validate the configuration.
  case check(configuration: String)
  /// Show what silent acquisition gives a route.
  case token(TokenOptions)
  /// Say the version.
  case version(OutputForm)
  /// Explain a command, or all of them.
  case help(CommandName?)
}

/// How a command answers.
enum OutputForm: Equatable {
  /// For people.
  case text
  /// For programs.
  case json
}

/// What `run` was told.
struct RunOptions: Equatable {
  /// The configuration file.
  var configuration: String
  /// Instead of the file's.
  var logLevel: LogSettings.Level?
  /// Instead of the file's.
  var logFormat: LogSettings.Format?
  /// Instead of the file's.
  var loops: Int?
}

/// What `token` was told.
struct TokenOptions: Equatable {
  /// The configuration file.
  var configuration: String
  /// The route whose token is wanted.
  var route: String
  /// How to answer.
  var form: OutputForm
  /// Whether the token itself may be shown.
  var reveal: Bool
}
