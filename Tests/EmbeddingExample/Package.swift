// swift-tools-version: 6.2
// A program outside this package: it depends on bearer-proxy's library product as any other package would.
import PackageDescription

let package = Package(
  name: "embedding-example",
  dependencies: [.package(name: "bearer-proxy", path: "../..")],
  targets: [
    .executableTarget(
      name: "embedding-example",
      dependencies: [.product(name: "Identity", package: "bearer-proxy")], path: "Sources")
  ])
