// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "LiveBenchmark",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "Reprise", path: "../../..")],
  targets: [
    .executableTarget(
      name: "receive",
      dependencies: [
        .product(name: "DataClient", package: "Reprise"),
        .product(name: "LiveClient", package: "Reprise"),
      ],
      swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error)])
  ]
)
