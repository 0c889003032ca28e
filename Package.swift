// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target of ours: language mode 6 (the tools version's default), warnings are errors, and the upcoming
/// features that make suspension, existentials and imports explicit.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableExperimentalFeature("Lifetimes"),
]

/// The sans-IO modules read bytes from strangers: there, each unsafe expression is also marked as such.
let strictAndSafe: [SwiftSetting] = strict + [.strictMemorySafety()]

let package = Package(
  name: "bearer-proxy",
  products: [
    // For other Swift programs that need tokens: Sources/Identity/README.md.
    .library(name: "Identity", targets: ["Identity"]),
    .library(name: "Tokens", targets: ["Tokens"]),
    .executable(name: "bearer-proxy", targets: ["bearer-proxy"]),
    .executable(name: "bearer-proxy-demo", targets: ["bearer-proxy-demo"]),
  ],
  targets: [
    .target(name: "CSystem"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),

    .target(name: "Telemetry", swiftSettings: strict),
    .target(name: "HTTP", swiftSettings: strictAndSafe),
    .target(name: "Tokens", dependencies: ["HTTP"], swiftSettings: strictAndSafe),
    .target(name: "Network", dependencies: ["CSystem", "COpenSSL", "Telemetry"], swiftSettings: strict),
    .target(name: "HTTPClient", dependencies: ["Network", "HTTP"], swiftSettings: strict),
    .target(name: "HTTPServer", dependencies: ["Network", "HTTP"], swiftSettings: strict),
    .target(
      name: "Identity", dependencies: ["HTTPClient", "HTTPServer", "Network", "Tokens", "HTTP", "Telemetry"],
      swiftSettings: strict),
    .target(
      name: "Configuration", dependencies: ["CYAML", "Tokens", "HTTP", "Telemetry"], swiftSettings: strict),
    .target(
      name: "Proxy",
      dependencies: ["Identity", "HTTPClient", "HTTPServer", "Network", "Tokens", "HTTP", "Telemetry"],
      swiftSettings: strict),
    .executableTarget(
      name: "bearer-proxy",
      dependencies: ["Proxy", "Identity", "HTTPClient", "Network", "Configuration", "Tokens", "HTTP", "Telemetry"],
      swiftSettings: strict),
    .target(name: "DemoProvider", dependencies: ["HTTPServer", "Network", "HTTP", "Tokens"], swiftSettings: strict),
    .executableTarget(name: "bearer-proxy-demo", dependencies: ["DemoProvider", "Network"], swiftSettings: strict),

    .testTarget(name: "TelemetryTests", dependencies: ["Telemetry"], swiftSettings: strict),
    .testTarget(name: "HTTPTests", dependencies: ["HTTP"], swiftSettings: strict),
    .testTarget(name: "TokensTests", dependencies: ["Tokens", "HTTP"], exclude: ["Fixtures"], swiftSettings: strict),
    .testTarget(
      name: "IdentityTests",
      dependencies: [
        "Identity", "HTTPClient", "HTTPServer", "Network", "Tokens", "HTTP", "Telemetry", "DemoProvider", "TestSupport",
        "cache-writer",
      ],
      swiftSettings: strict),
    .testTarget(name: "NetworkTests", dependencies: ["Network", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "HTTPClientTests", dependencies: ["HTTPClient", "Network", "HTTP", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "HTTPServerTests", dependencies: ["HTTPServer", "Network", "HTTP", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ProxyTests",
      dependencies: [
        "Proxy", "Identity", "HTTPClient", "HTTPServer", "Network", "Tokens", "HTTP", "Telemetry", "TestSupport",
      ],
      swiftSettings: strict),
    .target(
      name: "TestSupport", dependencies: ["Network", "Tokens"], path: "Tests/TestSupport", swiftSettings: strict),
    .executableTarget(
      name: "cache-writer", dependencies: ["Identity", "HTTPClient", "Network", "Tokens", "TestSupport"],
      path: "Tests/CacheWriter", swiftSettings: strict),
    .executableTarget(
      name: "confined-process", dependencies: ["Network"], path: "Tests/ConfinedProcess", swiftSettings: strict),
    .testTarget(
      name: "ConfigurationTests", dependencies: ["Configuration", "Tokens", "HTTP", "Telemetry", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "BearerProxyTests",
      dependencies: ["bearer-proxy", "Configuration", "HTTPClient", "Network", "Telemetry", "Tokens", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "DemoProviderTests",
      dependencies: [
        "DemoProvider", "bearer-proxy-demo", "bearer-proxy", "HTTPServer", "Network", "HTTP", "Tokens", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "EndToEndTests", dependencies: ["TestSupport", "bearer-proxy", "DemoProvider", "Network"],
      swiftSettings: strict),
  ]
)

// Pages for the readers of two modules stand beside their source.
for target in package.targets where ["Identity", "DemoProvider"].contains(target.name) {
  target.exclude.append("README.md")
}

// Compiling every test takes longer than compiling the program: `Tests/run --filter` names the test targets that it needs.
if let chosen = Context.environment["BEARER_PROXY_TESTS"]?.split(separator: ",") {
  package.targets.removeAll { target in target.type == .test && !chosen.contains { $0 == target.name } }
}

// Fuzz targets link with `--sanitize fuzzer` only, so that they are in the graph only where `Tests/fuzz` asks for them.
if Context.environment["BEARER_PROXY_FUZZ"] != nil {
  for name in [
    "FuzzRequestHead", "FuzzResponseHead", "FuzzChunked", "FuzzPath", "FuzzChallenge", "FuzzTokenReply",
    "FuzzCacheDocument", "FuzzIDToken", "FuzzConfiguration",
  ] {
    package.targets.append(
      .executableTarget(
        name: name, dependencies: ["HTTP", "Tokens"] + (name == "FuzzConfiguration" ? ["Configuration"] : []),
        path: "Fuzz/\(name)", swiftSettings: strict))
  }
}
