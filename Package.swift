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

/// Modules on the path of every request, whose objects each belong to one task or loop. Debug builds, and so the tests,
/// check at run time that no two accesses to a property overlap. Release builds leave that out: it was a tenth of the
/// user time of a request.
let hot: [SwiftSetting] = [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

/// The sans-IO modules read bytes from strangers: there, each unsafe expression is also marked as such.
let strictAndSafe: [SwiftSetting] = strict + [.strictMemorySafety()]

/// Modules that no request runs: their release build takes half the time without the optimiser of Swift's own
/// intermediate language. LLVM still optimises them, and the program is no larger.
let cold: [SwiftSetting] =
  strict + [.unsafeFlags(["-Xfrontend", "-disable-sil-perf-optzns"], .when(configuration: .release))]

let package = Package(
  name: "bearer-proxy",
  products: [
    // For other Swift programs that need tokens: Sources/Identity/README.md.
    .library(name: "Identity", targets: ["Identity"]),
    .executable(name: "bearer-proxy", targets: ["bearer-proxy"]),
    .executable(name: "bearer-proxy-demo", targets: ["bearer-proxy-demo"]),
  ],
  targets: [
    .target(name: "CProgram"),
    .target(name: "CSystem"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CNGHTTP2", providers: [.apt(["libnghttp2-dev"])]),

    .target(name: "Bytes", swiftSettings: strictAndSafe + hot),
    .target(name: "Telemetry", dependencies: ["Bytes"], swiftSettings: strict + hot),
    .target(name: "HTTP", dependencies: ["Bytes"], swiftSettings: strictAndSafe + hot),
    // The archive, so that the program needs no further shared library.
    .target(
      name: "HTTP2", dependencies: ["CNGHTTP2", "HTTP", "Bytes"], swiftSettings: strict + hot,
      linkerSettings: [.linkedLibrary(":libnghttp2.a")]),
    .target(name: "Tokens", dependencies: ["HTTP", "Bytes"], swiftSettings: strictAndSafe),
    .target(
      name: "Platform", dependencies: ["CSystem", "COpenSSL", "Telemetry", "Bytes"], swiftSettings: strict + hot),
    .target(name: "HTTPClient", dependencies: ["Platform", "HTTP2", "HTTP", "Bytes"], swiftSettings: strict + hot),
    .target(name: "HTTPServer", dependencies: ["Platform", "HTTP", "Bytes"], swiftSettings: strict),
    .target(
      name: "Identity", dependencies: ["HTTPClient", "HTTPServer", "Platform", "Tokens", "HTTP", "Telemetry", "Bytes"],
      swiftSettings: strict),
    .target(name: "Routing", dependencies: ["Tokens", "HTTP", "Bytes"], swiftSettings: strictAndSafe + hot),
    .target(
      name: "Configuration", dependencies: ["CYAML", "Routing", "Tokens", "HTTP", "Telemetry", "Bytes"],
      swiftSettings: cold),
    .target(
      name: "Proxy",
      dependencies: [
        "Identity", "Routing", "HTTPClient", "HTTPServer", "Platform", "Tokens", "HTTP2", "HTTP", "Telemetry", "Bytes",
      ],
      swiftSettings: strict + hot),
    .executableTarget(
      name: "bearer-proxy",
      dependencies: [
        "CProgram", "Proxy", "Identity", "HTTPClient", "Platform", "Configuration", "Routing", "Tokens", "HTTP",
        "Telemetry", "Bytes",
      ],
      swiftSettings: cold),
    .target(
      name: "DemoProvider", dependencies: ["COpenSSL", "HTTPServer", "Platform", "HTTP", "Tokens", "Bytes"],
      swiftSettings: strict),
    .executableTarget(
      name: "bearer-proxy-demo", dependencies: ["DemoProvider", "Platform", "Bytes"], swiftSettings: strict),

    .testTarget(name: "BytesTests", dependencies: ["Bytes"], swiftSettings: strict),
    .testTarget(name: "TelemetryTests", dependencies: ["Telemetry", "Bytes"], swiftSettings: strict),
    .testTarget(name: "HTTPTests", dependencies: ["HTTP", "Bytes"], swiftSettings: strict),
    .testTarget(name: "HTTP2Tests", dependencies: ["HTTP2", "HTTP", "Bytes"], swiftSettings: strict),
    .testTarget(name: "RoutingTests", dependencies: ["Routing", "Tokens", "HTTP", "Bytes"], swiftSettings: strict),
    .testTarget(
      name: "TokensTests", dependencies: ["Tokens", "HTTP", "Bytes"], exclude: ["Fixtures"], swiftSettings: strict),
    .testTarget(
      name: "IdentityTests",
      dependencies: [
        "Identity", "HTTPClient", "HTTPServer", "Platform", "Tokens", "HTTP", "Telemetry", "Bytes", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(name: "PlatformTests", dependencies: ["Platform", "Bytes", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "HTTPClientTests", dependencies: ["HTTPClient", "Platform", "HTTP2", "HTTP", "Bytes", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "HTTPServerTests", dependencies: ["HTTPServer", "Platform", "HTTP", "Bytes", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ProxyTests",
      dependencies: [
        "Proxy", "Routing", "Identity", "HTTPClient", "HTTPServer", "Platform", "Tokens", "HTTP", "Telemetry", "Bytes",
        "TestSupport",
      ],
      swiftSettings: strict),
    .target(
      name: "TestSupport", dependencies: ["Platform", "Tokens", "Bytes"], path: "Tests/TestSupport",
      swiftSettings: strict),
    .executableTarget(
      name: "cache-writer", dependencies: ["Identity", "HTTPClient", "Platform", "Tokens", "Bytes", "TestSupport"],
      path: "Tests/CacheWriter", swiftSettings: strict),
    .executableTarget(
      name: "confined-process", dependencies: ["Platform", "Bytes"], path: "Tests/ConfinedProcess",
      swiftSettings: strict),
    .executableTarget(
      name: "simulated-fleet", dependencies: ["Identity", "HTTPClient", "Platform", "Tokens", "HTTP", "Bytes"],
      path: "Tests/SimulatedFleet", swiftSettings: strict),
    .testTarget(
      name: "ConfigurationTests",
      dependencies: ["Configuration", "Routing", "Tokens", "HTTP", "Telemetry", "Bytes", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "BearerProxyTests",
      dependencies: [
        "bearer-proxy", "Configuration", "Proxy", "HTTPClient", "Platform", "Telemetry", "Tokens", "Bytes",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "DemoProviderTests",
      dependencies: [
        "DemoProvider", "HTTPServer", "Platform", "HTTP", "Tokens", "Bytes", "TestSupport",
      ],
      swiftSettings: strict),
    // What starts processes: our own programs, and peers that we did not write.
    .testTarget(
      name: "ProcessTests",
      dependencies: [
        "bearer-proxy", "bearer-proxy-demo", "DemoProvider", "Identity", "HTTPClient", "Platform", "Tokens", "HTTP",
        "Bytes", "TestSupport", "cache-writer", "confined-process",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "EndToEndTests", dependencies: ["TestSupport", "bearer-proxy", "DemoProvider", "Platform", "Bytes"],
      swiftSettings: strict),
  ]
)

// Pages for the readers of two modules stand beside their source.
for target in package.targets where ["Identity", "DemoProvider"].contains(target.name) {
  target.exclude.append("README.md")
}

// Compiling every test takes longer than compiling the program: `Tests/run --filter` names the test targets that it
// needs.
if let chosen = Context.environment["BEARER_PROXY_TESTS"]?.split(separator: ",") {
  package.targets.removeAll { target in target.type == .test && !chosen.contains { $0 == target.name } }
}

// Fuzz targets link with `--sanitize fuzzer` only, so that they are in the graph only where `Tests/fuzz` asks for them.
if Context.environment["BEARER_PROXY_FUZZ"] != nil {
  for name in [
    "FuzzRequestHead", "FuzzResponseHead", "FuzzChunked", "FuzzPath", "FuzzChallenge", "FuzzTokenReply",
    "FuzzCacheDocument", "FuzzIDToken", "FuzzConfiguration", "FuzzCheckRequest", "FuzzFrames",
  ] {
    package.targets.append(
      .executableTarget(
        name: name,
        dependencies: ["HTTP", "Tokens", "Telemetry", "Bytes"]
          + [
            "FuzzConfiguration": ["Configuration"], "FuzzCheckRequest": ["Routing"], "FuzzFrames": ["HTTP2"],
          ][name, default: []],
        path: "Fuzz/\(name)", swiftSettings: strict))
  }
}
