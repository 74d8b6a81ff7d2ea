// swift-tools-version: 6.2

import PackageDescription

/// The one set of compiler settings: Swift 6 mode, the upcoming features, and no warning tolerated.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  // Views over borrowed bytes are `~Escapable`, and say so with `@_lifetime`.
  .enableExperimentalFeature("Lifetimes"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "Reprise",
  platforms: [.macOS(.v26)],
  products: [
    .executable(name: "reprise", targets: ["reprise"]),
    .library(name: "Wire", targets: ["Wire"]),
    .library(name: "DataClient", targets: ["DataClient"]),
    .library(name: "DeviceSDK", targets: ["DeviceSDK"]),
    .library(name: "Capture", targets: ["Capture"]),
    .library(name: "LiveClient", targets: ["LiveClient"]),
    .library(name: "CloudSimulator", targets: ["CloudSimulator"]),
    .library(name: "ConformanceKit", targets: ["ConformanceKit"]),
  ],
  targets: [
    .systemLibrary(
      name: "CPcap", pkgConfig: "libpcap",
      providers: [.apt(["libpcap-dev"]), .brew(["libpcap"])]),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
      name: "CMosquitto", pkgConfig: "libmosquitto",
      providers: [.apt(["libmosquitto-dev"]), .brew(["mosquitto"])]),
    .systemLibrary(
      name: "CWebSockets", pkgConfig: "libwebsockets",
      providers: [.apt(["libwebsockets-dev"]), .brew(["libwebsockets"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),

    .target(name: "Wire", dependencies: ["CCrypto", "CZlib"], swiftSettings: settings),
    .target(name: "DataClient", dependencies: ["Wire"], swiftSettings: settings),
    .target(name: "CloudSimulator", dependencies: ["DataClient"], swiftSettings: settings),
    .target(
      name: "Capture", dependencies: ["DataClient", "Wire", "CPcap", "CZlib"],
      swiftSettings: settings),
    .target(
      name: "DeviceSDK", dependencies: ["DataClient", "CCrypto"], swiftSettings: settings),
    .target(
      name: "LiveClient", dependencies: ["DataClient", "Wire", "CMosquitto", "CWebSockets"],
      swiftSettings: settings),
    // Doors between a client and its server, which hold answers back until they are told: for live scenarios.
    .target(
      name: "Gates", dependencies: ["DataClient", "LiveClient", "Wire"], swiftSettings: settings),
    // The files of the folder Conformance as bytes, so that the command is one file and needs no other.
    .target(name: "CConformance"),
    .target(
      name: "ConformanceKit", dependencies: ["CConformance", "DataClient", "DeviceSDK", "Wire"],
      swiftSettings: settings),
    .executableTarget(
      name: "reprise",
      dependencies: [
        "Capture", "CloudSimulator", "ConformanceKit", "DataClient", "DeviceSDK", "Gates",
        "LiveClient", "Wire",
      ],
      swiftSettings: settings),

    // Sessions that the tests of several targets replay.
    .target(
      name: "AppSessions", dependencies: ["CloudSimulator", "DataClient", "DeviceSDK"],
      path: "Tests/AppSessions", swiftSettings: settings),
    // What tests of several targets share, and a client that tests kill.
    .target(
      name: "TestSupport", dependencies: ["DataClient"], path: "Tests/TestSupport",
      swiftSettings: settings),
    // What takes bytes from outside, for libFuzzer (make fuzz) and for short runs in the tests.
    .target(
      name: "FuzzTargets", dependencies: ["Capture", "CloudSimulator", "DataClient", "Wire"],
      path: "Tests/FuzzTargets", swiftSettings: settings),
    // Programs of the tests. Here, where it is the root, the package manager makes each a product too, as of any
    // executable target without one; packages that depend on this one have no such products.
    .executableTarget(
      name: "live-publisher", dependencies: ["DataClient", "LiveClient"],
      path: "Tests/LivePublisher", swiftSettings: settings),
    // The app whose session is Recordings/account-bind.
    .executableTarget(
      name: "account-bind-app", dependencies: ["DataClient", "DeviceSDK", "LiveClient"],
      path: "Tests/AccountBindApp", swiftSettings: settings),
    .testTarget(
      name: "FuzzTests", dependencies: ["FuzzTargets"],
      swiftSettings: settings),
    .testTarget(
      name: "WireTests", dependencies: ["TestSupport", "Wire"],
      exclude: ["WebSocket/peer.py"], swiftSettings: settings),
    .testTarget(
      name: "DataClientTests", dependencies: ["DataClient", "TestSupport", "Wire"],
      exclude: ["LocalFiles/Answers"], swiftSettings: settings),
    .testTarget(
      name: "DeviceSDKTests",
      dependencies: [
        "AppSessions", "Capture", "CloudSimulator", "ConformanceKit", "DeviceSDK", "DataClient",
        "TestSupport", "Wire",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CaptureTests", dependencies: ["Capture", "DataClient", "TestSupport", "Wire"],
      swiftSettings: settings),
    .testTarget(
      name: "LiveClientTests",
      dependencies: [
        "LiveClient", "Capture", "CloudSimulator", "ConformanceKit", "DataClient", "DeviceSDK",
        "Gates", "TestSupport", "Wire", "live-publisher", "reprise",
      ],
      exclude: ["README.md", "WebSocket/server.py", "WebSocket/Server/client.py"],
      swiftSettings: settings),
    .testTarget(
      name: "ConformanceKitTests",
      dependencies: [
        "ConformanceKit", "Capture", "DataClient", "DeviceSDK", "TestSupport", "Wire",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CloudSimulatorTests", dependencies: ["CloudSimulator", "DataClient"],
      swiftSettings: settings),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "reprise", "AppSessions", "CloudSimulator", "DataClient", "DeviceSDK", "Wire",
      ],
      exclude: ["Golden"], swiftSettings: settings),
  ],
  // #embed, which CConformance is made of, is of C23.
  cLanguageStandard: .c2x
)
