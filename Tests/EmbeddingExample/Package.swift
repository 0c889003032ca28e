// swift-tools-version: 6.2
// A program of somebody else's: it depends on bearer-proxy's library products as any other package would.
import PackageDescription

let package = Package(
  name: "embedding-example",
  dependencies: [.package(name: "bearer-proxy", path: "../..")],
  targets: [
    .executableTarget(
      name: "embedding-example",
      dependencies: [
        .product(name: "Identity", package: "bearer-proxy"), .product(name: "Tokens", package: "bearer-proxy"),
      ], path: "Sources")
  ])
