// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "thermostat",
  platforms: [.macOS(.v26), .iOS(.v26)],
  dependencies: [.package(name: "Reprise", path: "../..")],
  targets: [
    // The app, on whatever clients it is given.
    .target(
      name: "ThermostatKit",
      dependencies: [
        .product(name: "DeviceSDK", package: "Reprise"),
        .product(name: "RepriseCore", package: "Reprise"),
      ]),
    // Chooses the clients by what is typed.
    .executableTarget(
      name: "thermostat",
      dependencies: [
        "ThermostatKit",
        .product(name: "Capture", package: "Reprise"),
        .product(name: "LiveClient", package: "Reprise"),
        .product(name: "RepriseCore", package: "Reprise"),
      ]),
    .testTarget(
      name: "ThermostatTests",
      dependencies: [
        "ThermostatKit",
        .product(name: "Capture", package: "Reprise"),
        .product(name: "DeviceSDK", package: "Reprise"),
        .product(name: "LiveClient", package: "Reprise"),
        .product(name: "RepriseCore", package: "Reprise"),
        .product(name: "RepriseTesting", package: "Reprise"),
      ],
      exclude: ["Recordings"]),
  ],
  swiftLanguageModes: [.v6]
)
