// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error),
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "Reprise", path: "../../..")],
  targets: [
    .target(
      name: "Answering",
      dependencies: [.product(name: "RepriseCore", package: "Reprise")],
      swiftSettings: settings),
    .executableTarget(
      name: "lines",
      dependencies: [
        "Answering", .product(name: "RepriseCore", package: "Reprise"),
        .product(name: "DeviceSDK", package: "Reprise"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "heartbeats",
      dependencies: [
        "Answering", .product(name: "RepriseCore", package: "Reprise"),
        .product(name: "DeviceSDK", package: "Reprise"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "mask", dependencies: [.product(name: "Wire", package: "Reprise")],
      swiftSettings: settings),
    .executableTarget(
      name: "receive",
      dependencies: [
        .product(name: "RepriseCore", package: "Reprise"),
        .product(name: "LiveClient", package: "Reprise"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "roundtrips",
      dependencies: [
        .product(name: "RepriseCore", package: "Reprise"),
        .product(name: "LiveClient", package: "Reprise"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "replay",
      dependencies: [
        .product(name: "Capture", package: "Reprise"),
        .product(name: "RepriseCore", package: "Reprise"),
        .product(name: "DeviceSDK", package: "Reprise"),
      ],
      swiftSettings: settings),
  ]
)
