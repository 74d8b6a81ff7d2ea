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

/// OpenSSL, where there is no CryptoKit.
let crypto = Target.Dependency.target(name: "CCrypto", condition: .when(platforms: [.linux]))

/// libpcap, where its headers are.
let pcap = Target.Dependency.target(name: "CPcap", condition: .when(platforms: [.linux, .macOS]))

let package = Package(
  name: "Reprise",
  // `Span`, `Mutex` and typed throws over views of borrowed bytes need the library of these versions.
  platforms: [.macOS(.v26), .iOS(.v26)],
  products: [
    .library(name: "Wire", targets: ["Wire"]),
    .library(name: "WireDeflate", targets: ["WireDeflate"]),
    .library(name: "RepriseCore", targets: ["RepriseCore"]),
    .library(name: "DeviceSDK", targets: ["DeviceSDK"]),
    .library(name: "Capture", targets: ["Capture"]),
    .library(name: "CloudSimulator", targets: ["CloudSimulator"]),
    .library(name: "ConformanceKit", targets: ["ConformanceKit"]),
    .library(name: "RepriseTesting", targets: ["RepriseTesting"]),
  ],
  targets: [
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),

    // The functions of libpcap, which is loaded when a filter is compiled.
    .target(name: "CPcap"),
    .target(name: "Wire", dependencies: [crypto], swiftSettings: settings),
    // What reads and writes compressed WebSocket messages. On its own, so that an app of the SDK needs no zlib.
    .target(name: "WireDeflate", dependencies: ["Wire", "CZlib"], swiftSettings: settings),
    .target(name: "RepriseCore", dependencies: ["Wire"], swiftSettings: settings),
    .target(name: "CloudSimulator", dependencies: ["RepriseCore"], swiftSettings: settings),
    .target(
      name: "Capture", dependencies: ["RepriseCore", "Wire", "WireDeflate", crypto, pcap, "CZlib"],
      swiftSettings: settings),
    .target(
      name: "DeviceSDK", dependencies: ["RepriseCore", crypto], swiftSettings: settings),
    // Plays a recorded session on the SDK, whose app it plays itself: for `replay sdk`.
    .target(
      name: "SDKReplay", dependencies: ["RepriseCore", "DeviceSDK"], swiftSettings: settings),
    // Plays one end of recorded connections, as machines without sockets: for `replay serve` and `replay drive`.
    .target(name: "SessionReplay", dependencies: ["RepriseCore", "Wire"], swiftSettings: settings),
    // The files of the folder Conformance as bytes, so that the command is one file and needs no other.
    .target(name: "CConformance"),
    // The page of a session, its style and its script, for the same reason.
    .target(name: "CPages", exclude: ["Session"]),
    .target(
      name: "ConformanceKit", dependencies: ["CConformance", "RepriseCore", "DeviceSDK", "Wire"],
      swiftSettings: settings),
    // Counts what sessions hold and tells what happened to a client: for `stats` and `story`.
    .target(name: "Statistics", dependencies: ["RepriseCore", "Wire"], swiftSettings: settings),
    // What differs between two sessions, by what packets mean: for `diff`.
    .target(name: "SessionDiff", dependencies: ["RepriseCore", "Wire"], swiftSettings: settings),
    // A session as it is looked at, without a terminal: for `view`.
    .target(
      name: "SessionView", dependencies: ["ConformanceKit", "RepriseCore", "Statistics", "Wire"],
      swiftSettings: settings),
    // Records and replays the tests of those who use this package. It needs the Testing of the toolchain, and so is linked
    // by tests alone.
    .target(
      name: "RepriseTesting", dependencies: ["Capture", "RepriseCore"], swiftSettings: settings),
    // Sessions that the tests of several targets replay.
    .target(
      name: "AppSessions",
      dependencies: ["CloudSimulator", "RepriseCore", "DeviceSDK", "TestSupport"],
      path: "Tests/AppSessions", swiftSettings: settings),
    // What tests of several targets share, and a client that tests kill.
    .target(
      name: "TestSupport", dependencies: ["RepriseCore"], path: "Tests/TestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "WireTests", dependencies: ["TestSupport", "Wire", "WireDeflate"],
      exclude: ["WebSocket/peer.py"], swiftSettings: settings),
    .testTarget(
      name: "RepriseCoreTests", dependencies: ["RepriseCore", "TestSupport", "Wire"],
      exclude: ["LocalFiles/Answers"], swiftSettings: settings),
    .testTarget(
      name: "DeviceSDKTests",
      dependencies: [
        "AppSessions", "Capture", "CloudSimulator", "ConformanceKit", "DeviceSDK", "RepriseCore",
        "SDKReplay", "TestSupport", "Wire",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CaptureTests",
      dependencies: ["Capture", "RepriseCore", "TestSupport", "Wire", "WireDeflate"],
      exclude: ["TLS/sessions.py"], swiftSettings: settings),
    .testTarget(
      name: "ConformanceKitTests",
      dependencies: [
        "ConformanceKit", "Capture", "RepriseCore", "DeviceSDK", "TestSupport", "Wire",
        "WireDeflate",
      ],
      exclude: [
        "Sessions/Tallies.txt", "Sessions/Tallies5.txt", "Sessions/SharedTallies.txt",
        "Sessions/VariantTallies.txt",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "StatisticsTests", dependencies: ["RepriseCore", "Statistics", "TestSupport", "Wire"],
      swiftSettings: settings),
    .testTarget(
      name: "SessionReplayTests",
      dependencies: ["Capture", "RepriseCore", "SessionReplay", "Wire"],
      swiftSettings: settings),
    .testTarget(
      name: "SessionDiffTests",
      dependencies: ["Capture", "RepriseCore", "SessionDiff", "TestSupport", "Wire"],
      swiftSettings: settings),
    .testTarget(
      name: "SessionViewTests",
      dependencies: ["RepriseCore", "SessionView"],
      swiftSettings: settings),
    .testTarget(
      name: "RepriseTestingTests",
      dependencies: [
        "CloudSimulator", "DeviceSDK", "RepriseCore", "RepriseTesting", "TestSupport",
      ],
      exclude: ["Recordings"], swiftSettings: settings),
    .testTarget(
      name: "CloudSimulatorTests", dependencies: ["CloudSimulator", "RepriseCore", "TestSupport"],
      swiftSettings: settings),
  ],
  // #embed, which CConformance is made of, is of C23.
  cLanguageStandard: .c2x
)

// What talks to sockets and to a terminal, and the programs on it, is written for Linux.
#if os(Linux)
  package.products += [
    .executable(name: "reprise", targets: ["reprise"]),
    .library(name: "LiveClient", targets: ["LiveClient"]),
    .library(name: "LiveHTTP", targets: ["LiveHTTP"]),
  ]
  package.targets += [
    .systemLibrary(
      name: "CMosquitto", pkgConfig: "libmosquitto",
      providers: [.apt(["libmosquitto-dev"]), .brew(["mosquitto"])]),
    .systemLibrary(
      name: "CWebSockets", pkgConfig: "libwebsockets",
      providers: [.apt(["libwebsockets-dev"]), .brew(["libwebsockets"])]),
    .target(
      name: "LiveClient",
      dependencies: ["RepriseCore", "Wire", "WireDeflate", "CMosquitto", "CTLS", "CWebSockets"],
      swiftSettings: settings),
    // On its own, because URLSession brings all of Foundation with it, which a program of MQTT can do without.
    .target(
      name: "LiveHTTP", dependencies: ["RepriseCore", "LiveClient"], swiftSettings: settings),
    // Doors between a client and its server, which hold answers back until they are told: for live scenarios.
    .target(
      name: "Gates", dependencies: ["RepriseCore", "LiveClient", "Wire"], swiftSettings: settings),
    // Stands between any client and any server, and shows what passes: for `record proxy`.
    .target(
      name: "Proxy", dependencies: ["Capture", "LiveClient", "RepriseCore"],
      swiftSettings: settings),
    // Provokes brokers and clients by cases, and records what comes of it: for `conform broker` and its like. Puts the
    // ends of recorded connections on sockets: for `replay serve` and `replay drive`.
    .target(
      name: "Driver",
      dependencies: [
        "CConformance", "Capture", "LiveClient", "RepriseCore", "SessionReplay", "Wire",
        "WireDeflate",
      ],
      swiftSettings: settings),
    // What of OpenSSL's TLS is not seen from Swift.
    .target(
      name: "CTLS", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .executableTarget(
      name: "reprise",
      dependencies: [
        "CCrypto", "CMosquitto", "CPages", "CPcap", "CWebSockets", "CZlib", "Capture",
        "CloudSimulator", "ConformanceKit", "Driver", "RepriseCore", "DeviceSDK", "Gates",
        "LiveClient", "Proxy", "SDKReplay", "SessionDiff", "SessionReplay", "SessionView",
        "Statistics", "Wire",
      ],
      swiftSettings: settings),

    // What takes bytes from outside, for libFuzzer (make fuzz) and for short runs in the tests.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Capture", "CloudSimulator", "RepriseCore", "TestSupport", "Wire", "WireDeflate",
      ],
      path: "Tests/FuzzTargets", swiftSettings: settings),
    // Programs of the tests. Here, where it is the root, the package manager makes each a product too, as of any
    // executable target without one; packages that depend on this one have no such products.
    .executableTarget(
      name: "live-publisher", dependencies: ["RepriseCore", "LiveClient"],
      path: "Tests/LivePublisher", swiftSettings: settings),
    // What an app sees of the network that it is run in.
    .executableTarget(
      name: "network-probe", dependencies: ["RepriseCore", "DeviceSDK", "LiveClient", "LiveHTTP"],
      path: "Tests/NetworkProbe", swiftSettings: settings),
    // How fast a link's machine is by itself, for make bench.
    .executableTarget(
      name: "link-beats", dependencies: ["RepriseCore", "DeviceSDK"], path: "Tests/LinkBeats",
      swiftSettings: settings),
    // The app whose session is Recordings/account-bind.
    .executableTarget(
      name: "account-bind-app", dependencies: ["RepriseCore", "DeviceSDK", "LiveClient"],
      path: "Tests/AccountBindApp", swiftSettings: settings),
    .testTarget(
      name: "DriverTests", dependencies: ["ConformanceKit", "Driver", "RepriseCore", "Wire"],
      swiftSettings: settings),
    .testTarget(
      name: "FuzzTests", dependencies: ["FuzzTargets"],
      swiftSettings: settings),
    .testTarget(
      name: "LiveClientTests",
      dependencies: [
        "LiveClient", "Capture", "CloudSimulator", "ConformanceKit", "RepriseCore", "DeviceSDK",
        "Gates", "LiveHTTP", "RepriseTesting", "TestSupport", "Wire", "WireDeflate",
        "live-publisher", "network-probe", "reprise",
      ],
      exclude: [
        "Proxy/tls-server.py", "README.md", "WebSocket/echo-client.py", "WebSocket/server.py",
        "WebSocket/Server/client.py", "Command/client.py", "Command/two-step.c",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "reprise", "AppSessions", "CloudSimulator", "RepriseCore", "DeviceSDK", "TestSupport",
        "Wire", "WireDeflate",
      ],
      exclude: ["Golden", "Page/browser.py", "Page/observe.py", "Recipes"], swiftSettings: settings),
    // Holds the pages of the documentation to what they show.
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "Capture", "CloudSimulator", "DeviceSDK", "LiveClient", "LiveHTTP",
        "RepriseCore", "RepriseTesting", "reprise",
      ],
      exclude: ["Site", "Snippets/Recordings"], swiftSettings: settings),
  ]
#endif
