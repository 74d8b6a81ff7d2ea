import Foundation
import TestSupport
import Testing

/// What a file says of frames that it lacks reaches the judge, whichever command asks.
@Suite struct MissingConnectionTests {
  private static let recording = PackageFolder.recordings.appending(
    path: "field/amqtt/session-dropped.v311.pcapng")
  private let scratch = Scratch()

  /// A recording in which a session is there that had ended, with the statistics of its interface behind it.
  private func capture(lost: UInt64) throws -> String {
    var bytes = Array(try Data(contentsOf: Self.recording))
    func put<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
    let length: UInt32 = 40
    for word in [5, length, 0, 0, 0] as [UInt32] { put(word) }
    put(UInt16(7))
    put(UInt16(8))
    put(lost)
    put(UInt32(0))
    put(length)
    return try scratch.write(bytes, to: "lost-\(lost).pcapng").path
  }

  private func judge(_ file: String, _ words: [String] = []) throws -> RepriseProcess.Result {
    try RepriseProcess.run(
      ["conform", "trace", file, "--clause", "MQTT-3.1.2-6", "--spec", "mqtt-3.1.1"] + words)
  }

  @Test func `a connection may be among the frames that a capture says to have lost`() throws {
    let whole = try judge(capture(lost: 0))
    #expect(whole.status == 1)
    #expect(!whole.errors.contains("frames were lost"))
    let lossy = try judge(capture(lost: 3))
    #expect(lossy.status == 0)
    #expect(lossy.errors.contains("3 frames were lost while it was captured"))
    #expect(
      lossy.output.contains(
        "MQTT-3.1.2-6  1 of 3 undecided: the client may have had a connection in between"))
  }

  @Test func `a story accuses nobody of it either`() throws {
    let sentence = "a session is present, though"
    for (lost, isTold) in [(0, true), (3, false)] as [(UInt64, Bool)] {
      let story = try RepriseProcess.run(["story", capture(lost: lost), "--connection", "4"])
      #expect(story.status == 0)
      #expect(story.output.contains(sentence) == isTold, "\(lost)")
    }
  }
}
