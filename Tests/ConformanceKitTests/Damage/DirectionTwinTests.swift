import Foundation
import RepriseCore
import TestSupport
import Testing

@testable import Capture
@testable import ConformanceKit

/// Which end is the client the bytes tell, where ports and the start of a connection don't, or say otherwise.
@Suite("Captures whose directions look swapped")
struct DirectionTwinTests {
  /// What is otherwise about a capture, of which the bytes are the same.
  enum Twin: String, CaseIterable {
    /// Each end has the other's port, so that clients seem to be where servers are.
    case ports
    /// No SYN was captured: who opened a connection is not known.
    case start
    case portsAndStart
  }

  /// A violation, as what is the same in a capture and in its twin.
  private struct Accusation: Hashable, CustomStringConvertible {
    var clause: String
    var frame: Int

    var description: String { "\(clause) @\(frame)" }
  }

  /// The sender of the packets of MQTT in a frame.
  private struct Sender: Hashable {
    var frame: Int
    var sender: Peer
  }

  /// What came of a capture.
  private final class Outcome {
    var judge: ConformanceJudge
    var senders: Set<Sender> = []

    init(_ catalogue: Catalogue) throws {
      judge = try ConformanceJudge(
        catalogue: catalogue,
        options: ConformanceOptions(isStrict: true, maximumFindings: 100_000))
      judge.begin(file: "twin.pcap")
    }

    func take(_ event: borrowing EventView) {
      if case .mqtt = event.body {
        senders.insert(Sender(frame: event.context.frame, sender: event.context.sender))
      }
      judge.consume(event)
    }

    var accusations: Set<Accusation> {
      judge.endFile()
      return Set(
        judge.report(toolVersion: "1").results.flatMap { result in
          result.findings.map { Accusation(clause: result.clause.id, frame: $0.frame) }
        })
    }
  }

  private static func outcome(
    of frames: CapturedFrames, _ twin: Twin?, _ catalogue: Catalogue
  ) throws -> Outcome {
    var frames = frames
    frames.swapsPorts = twin == .ports || twin == .portsAndStart
    frames.leavesOutStarts = twin == .start || twin == .portsAndStart
    let outcome = try Outcome(catalogue)
    frames.read { outcome.take($0) }
    return outcome
  }

  /// Expects that no twin of captures is accused of anything that the capture itself is not.
  private func expectWeaker(_ paths: [String], tellsSenders: Bool) throws {
    let catalogue = try Catalogue.bundled()
    var accused: [String] = []
    var turned: [String] = []
    var weakened: Set<Twin> = []
    for path in paths {
      let name = path.split(separator: "/").suffix(2).joined(separator: "/")
      let frames = try CapturedFrames(path: path)
      let whole = try Self.outcome(of: frames, nil, catalogue)
      let expected = whole.accusations
      for twin in Twin.allCases {
        let outcome = try Self.outcome(of: frames, twin, catalogue)
        let seen = outcome.accusations
        if seen.count < expected.count { weakened.insert(twin) }
        let new = seen.subtracting(expected)
        if !new.isEmpty { accused.append("\(new) by \(twin) of \(name)") }
        // Frames of which nothing was told before are no matter.
        let frames = Set(whole.senders.map(\.frame))
        let wrong = outcome.senders.filter { frames.contains($0.frame) }.subtracting(whole.senders)
        if !wrong.isEmpty { turned.append("\(wrong.count) senders by \(twin) of \(name)") }
      }
    }
    #expect(accused == [])
    if tellsSenders { #expect(turned == []) }
    // Otherwise it would not be known that anything is compared.
    #expect(weakened.contains(.start) && weakened.contains(.portsAndStart))
  }

  @Test("A recording accuses nobody of more where the roles are known from the bytes alone")
  func recordings() throws {
    try expectWeaker(
      DamageTests.recordings.map { PackageFolder.path("Recordings/\($0)") },
      tellsSenders: true)
  }

  @Test(
    "A capture of others accuses nobody of more where the roles are known from the bytes alone",
    .capturesOfOthers)
  func others() throws {
    try expectWeaker(DamageTests.capturesOfOthers(), tellsSenders: false)
  }
}
