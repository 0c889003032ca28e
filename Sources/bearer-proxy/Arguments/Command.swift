import Configuration
import HTTP
import Identity
import Telemetry
import Tokens

/// A command, complete and checked as far as that is possible without reading a file. Help says what each does.
enum Command: Equatable {
  case run(RunOptions)
  case check(configuration: String)
  case checkLive(LiveCheck)
  case login(LoginCommand)
  case accounts(AccountsCommand)
  case logout(LogoutCommand)
  case token(TokenCommand)
  case status(StatusCommand)
  /// Ask for a first configuration, and write it.
  case initialise(configuration: String)
  /// Print a configuration for an API that describes itself.
  case discover(HTTPURL)
  /// Print another proxy's part of asking for tokens.
  case engine(Engine, configuration: String)
  case exec(ExecCommand)
  case completion(Shell)
  /// Print what may be at the end of these words. Help does not list it: it is for the scripts of shells.
  case complete([String])
  case man
  /// Print deploy/troubleshooting.md, which is built in. Help does not list it: it is for those who change the program.
  case troubleshooting
  /// Print a file of config/ as the table of settings has it. For those who change the program, too.
  case document(String)
  case version(OutputForm)
  /// Explain a command, or all of them.
  case help(CommandName?)

  /// The file that `init` writes if none is named.
  static let firstConfiguration = "proxy.yaml"
}

/// The form of a command's answer.
enum OutputForm: Equatable {
  case text
  case json
}

/// A shell that completes command lines.
enum Shell: String, CaseIterable {
  case bash, zsh, fish
}

/// A proxy whose configuration `engine` writes, in one of its forms.
enum Engine: String, CaseIterable {
  case nginx, envoy
  case envoyGRPC = "envoy-grpc"
  case envoyExtProc = "envoy-ext-proc"
  case envoyExtAuthz = "envoy-ext-authz"
  case envoyTwoListeners = "envoy-two-listeners"
  case caddy, haproxy
  case haproxyLua = "haproxy-lua"
  case traefik
}

struct RunOptions: Equatable {
  var configuration: String
  /// Instead of the file's.
  var logLevel: LogLevel?
  /// Instead of the file's.
  var logFormat: LogFormat?
  /// Instead of the file's.
  var loops: Int?
  /// The environment variables that one of these came from.
  var variables: Set<String> = []
}
/// Starts a program with the variables by which it gets tokens here.
struct ExecCommand: Equatable {
  var configuration: String
  /// The program under `programs`; nil: the only one.
  var program: String?
  /// Instead of `warning`.
  var logLevel: LogLevel?
  /// Instead of the file's.
  var logFormat: LogFormat?
  /// Variables that stay in the program's environment, although secrets of the configuration come from them.
  var keptVariables: [String] = []
  /// The program's file, then its arguments.
  var words: [String]
}

/// Tries what a configuration says.
struct LiveCheck: Equatable {
  var configuration: String
  /// The only route to try; nil: every one.
  var route: String?
  /// The path to request from the upstreams, instead of those of the routes.
  var probe: String?
  var form: OutputForm
}

/// Obtains a route's token as the proxy would and says what came of it.
struct TokenCommand: Equatable {
  var configuration: String
  /// The route whose token is wanted.
  var route: String
  var form: OutputForm
  /// True if the token itself may be shown.
  var reveal: Bool
  /// The form in which a program gets the token of the running proxy; nil: a description is printed.
  var format: TokenFormat?
  /// The operation that the program asks for; nil: a token.
  var operation: TokenOperation?
  /// The user name beside the token, for programs that want one.
  var username = TokenCommand.usualUsername

  /// The name that GitLab expects; other servers take any.
  static let usualUsername = "oauth2"
}

/// The form in which a program expects a token.
enum TokenFormat: String, CaseIterable {
  case plain, json, git, kubectl, docker
}

/// The last word that git and docker call a helper with.
enum TokenOperation: String, CaseIterable {
  case get, store, erase, list
}

/// Asks a running instance.
struct StatusCommand: Equatable {
  var configuration: String
  var form: OutputForm
  /// Seconds to wait until the instance is ready; nil: it is asked once.
  var wait: UInt64?

  /// The time for `--wait` without a value.
  static let patience: UInt64 = 60
}

/// Lists the people of applications. Those of a cache that is too large to hold are written page by page.
struct AccountsCommand: Equatable {
  var configuration: String
  var form = OutputForm.text
  /// The only application whose people are listed.
  var application: String?
  /// The only person's user name or id.
  var account: String?
}

/// Signs a person out.
struct LogoutCommand: Equatable {
  var configuration: String
  /// A user name or an id.
  var account: String
  /// One of the applications of the account, if several identity providers know a person of that name.
  var application: String?
  /// True if the provider is told to end the tokens, too.
  var revokes = false
}

/// Signs a person in.
struct LoginCommand: Equatable {
  /// The application or route of a sign-in.
  enum Target: Equatable {
    /// An application, and every route of its first account.
    case application(String)
    /// The token of one route.
    case route(String)
  }

  /// The device of the sign-in.
  enum Way: Equatable {
    /// In a browser on this machine. The prompt is what is shown there, and the hint who is expected.
    case browser(prompt: Prompt?, hint: String?)
    /// In a browser anywhere, which a code leads to.
    case deviceCode
  }

  /// A place for the browser's answer.
  enum Redirect: Equatable {
    /// The usual one, at this port.
    case port(UInt16)
    /// Another one.
    case uri(LoopbackRedirect)
  }

  var configuration: String
  var target: Target
  var way = Way.browser(prompt: nil, hint: nil)
  /// At which sign-in page the person begins.
  var domainHint: DomainHint?
  /// More scopes to consent to.
  var extraScopes = ScopeSet.none
  /// More claims to prove.
  var claims: Claims?
  /// The redirect URI, if it is not the application's usual one.
  var redirect: Redirect?
  /// Seconds that the person may take in the browser.
  var timeout: UInt64 = LoginCommand.patience

  /// The time limit without the option.
  static let patience: UInt64 = 300
}
