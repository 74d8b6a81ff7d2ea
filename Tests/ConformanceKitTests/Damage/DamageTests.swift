import ConformanceKit
import Foundation
import RepriseCore
import TestSupport
import Testing

/// Damage to a capture never makes an accusation: what fails on damaged frames fails on all of them.
@Suite("Damaged captures")
struct DamageTests {
  /// How many variants there are of each kind of damage to each capture.
  private static let seeds: UInt64 = {
    let environment = ProcessInfo.processInfo.environment
    // A sanitizer takes ten times as long, and looks for other faults than those that seeds find.
    let usual: UInt64 = environment["REPRISE_SANITIZER"] == nil ? 2 : 1
    return environment["REPRISE_DAMAGE_SEEDS"].flatMap(UInt64.init) ?? usual
  }()

  /// Captures of this package, relative to its recordings.
  static let recordings = PackageFolder.recorded.filter {
    $0.hasSuffix("/capture.pcap") || sdk.contains($0)
  }

  /// Sessions of the SDK over WebSocket: each with another kind of end, or other traffic.
  private static let sdk: Set<String> = [
    "sdk/link/stream-calls.pcap", "sdk/link/stream-lost.pcap", "sdk/link/stream-token.pcap",
    "sdk/requests/ask-resent.pcap", "sdk/requests/socket-closed-by-server.pcap",
    "sdk/requests/socket-heartbeat.pcap",
  ]

  /// Captures of others that speak MQTT or WebSocket, whole or not.
  static func capturesOfOthers() -> [String] {
    SharedCaptures.names.map(SharedCaptures.path).filter { path in
      guard let whole = try? CapturedFrames(path: path) else { return false }
      return whole.events.contains { event in
        switch event.body {
        case .mqtt, .handshake, .webSocket, .http, .tls: true
        case .opened, .closed, .attempted, .gap, .malformed: false
        }
      }
    }
  }

  @Test("No clause fails on a damaged recording that the whole one keeps")
  func recordings() throws {
    #expect(Self.recordings.count >= 25)
    try Self.damage(
      Self.recordings.map { PackageFolder.path("Recordings/\($0)") })
  }

  @Test(
    "No clause fails on a damaged capture of others that the whole one keeps", .capturesOfOthers)
  func others() throws {
    let others = Self.capturesOfOthers()
    #expect(others.count >= 50)
    try Self.damage(others)
  }

  @Test(
    "What is still in the file is told whole, whatever the order of its frames",
    arguments: Damage.allCases.filter(\.keepsAll))
  func keepsAll(_ kind: Damage) throws {
    for path in Self.recordings {
      let whole = try CapturedFrames(path: PackageFolder.path("Recordings/\(path)"))
      let expected = Self.streams(whole.events)
      for seed in 0..<Self.seeds {
        let told = Self.streams(kind.apply(to: whole, seed: seed).events)
        #expect(Set(told.keys) == Set(expected.keys), "\(kind) \(seed) of \(path)")
        let changed = expected.keys.filter { told[$0] != expected[$0] }
        #expect(changed == [], "\(kind) \(seed) of \(path)")
      }
    }
  }

  /// What each end of each connection sent, and what is missing of it.
  private static func streams(_ events: [Event]) -> [String: [Event.Body]] {
    var names: [Int: String] = [:]
    var streams: [String: [Event.Body]] = [:]
    for event in events {
      switch event.body {
      case .opened(let opening): names[event.context.connection] = opening.client
      case .closed, .attempted: continue
      case .mqtt, .handshake, .webSocket, .http, .tls, .gap, .malformed:
        let name = names[event.context.connection] ?? "none"
        streams["\(event.context.sender) of \(name)", default: []].append(event.body)
      }
    }
    return streams
  }

  /// What is wrong in the whole capture as well, and is left open there: it shows that its frames are out of order,
  /// which a snapshot of it does not.
  private static let real: Set<String> = [
    // The server delivers at the QoS of the first filter that matches, as in all captures of its kind.
    "MQTT-3.3.5-1 of made-here/g17d_reordered_packets.pcap"
  ]

  private static func damage(_ paths: [String]) throws {
    let catalogue = try Catalogue.bundled()
    var accused: [String] = []
    var variants = 0
    for path in paths {
      let name = path.split(separator: "/").suffix(2).joined(separator: "/")
      let whole = try CapturedFrames(path: path)
      let expected = try whole.violated(catalogue)
      for kind in Damage.allCases {
        for seed in 0..<seeds {
          let damaged = kind.apply(to: whole, seed: seed)
          variants += 1
          for clause in try damaged.violated(catalogue).subtracting(expected).sorted()
          where !real.contains("\(clause) of \(name)") {
            accused.append("\(clause) by \(kind) \(seed) of \(name)")
          }
        }
      }
    }
    if ProcessInfo.processInfo.environment["REPRISE_DAMAGE_SEEDS"] != nil {
      print("\(accused.count) accusations in \(variants) damaged captures")
      for accusation in accused { print("  \(accusation)") }
    }
    #expect(accused == [], "in \(variants) damaged captures")
  }
}
