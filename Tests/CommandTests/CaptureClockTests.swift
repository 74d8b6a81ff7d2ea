import Foundation
import TestSupport
import Testing

/// Captures of machines whose clock was set while they captured, as on a gateway that gets the time from the network late.
@Suite struct CaptureClockTests {
  /// A recording with its clock set forward by an hour in front of a frame, with the clocks of the senders in the segments
  /// where a connection's client has one of some ports, and with a Keep Alive of 0 where it has a certain one.
  private func capture(
    _ name: String, setBefore frame: Int, calm: UInt16? = nil, clocksOf isKept: (UInt16) -> Bool
  ) throws -> [UInt8] {
    let file = PackageFolder.recordings.appending(path: "\(name)/capture.pcap")
    var bytes = [UInt8](try Data(contentsOf: file))
    func number(_ place: Int) -> Int {
      (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }
    // Seconds, their fraction and the length, the lowest byte first, behind a header of 24 bytes.
    try #require(bytes.prefix(4) == [0xD4, 0xC3, 0xB2, 0xA1])
    var (place, index) = (24, 1)
    while place + 16 <= bytes.count {
      let end = place + 16 + number(place + 8)
      if index >= frame {
        let seconds = number(place) + 3_600
        for byte in 0..<4 { bytes[place + byte] = UInt8(seconds >> (8 * byte) & 0xFF) }
      }
      // The ports stand behind Ethernet and IPv4.
      let ports = [50, 52].map { UInt16(bytes[place + $0]) << 8 | UInt16(bytes[place + $0 + 1]) }
      if ports.first == calm, let name = bytes[place..<end].firstRange(of: Array("MQTT".utf8)) {
        // Behind the name stand the version and the flags.
        bytes.replaceSubrange(name.upperBound + 2..<name.upperBound + 4, with: [0, 0])
      }
      let option: [UInt8] = [1, 1, 8, 10]
      if !ports.contains(where: isKept),
        let found = bytes[(place + 16)..<end].firstRange(of: option)
      {
        bytes.replaceSubrange(found, with: [1, 1, 1, 1])
      }
      (place, index) = (end, index + 1)
    }
    #expect(index > frame + 4)
    return bytes
  }

  private func failed(_ bytes: [UInt8]) throws -> Set<String> {
    let scratch = Scratch()
    let file = try scratch.write(bytes, to: "a.pcap")
    let result = try RepriseProcess.run([
      "conform", "trace", "--assume", "complete", "--format", "json", file.path,
    ])
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    let clauses = try #require(json?["clauses"] as? [[String: Any]])
    let failed = clauses.filter { $0["verdict"] as? String == "failed" }
    #expect(result.status == (failed.isEmpty ? 0 : 1))
    return Set(failed.compactMap { $0["id"] as? String })
  }

  @Test(arguments: [
    ("keep-alive-ping", 8, ["MQTT-3.1.2-23", "MQTT-3.1.2-24"]),
    ("qos-levels-v311", 12, ["MQTT-3.1.2-23"]),
    ("request-response-v5", 12, ["MQTT-3.1.2-20", "MQTT-3.1.2-22", "MQTT-3.2.2-22"]),
  ])
  func takesNoSetClockForASilence(name: String, frame: Int, silent: [String]) throws {
    #expect(try failed(capture(name, setBefore: frame) { _ in true }) == [])
    // Nothing else tells it from a silence of an hour.
    #expect(try failed(capture(name, setBefore: frame) { _ in false }) == Set(silent))
  }

  /// What one connection shows holds for the other one, which was open meanwhile.
  @Test(arguments: [
    (UInt16(41763), ["MQTT-3.1.2-20", "MQTT-3.1.2-22", "MQTT-3.2.2-22"]),
    (UInt16(52365), ["MQTT-3.1.2-23", "MQTT-3.1.2-24"]),
  ])
  func takesTheClockOfAnotherConnection(port: UInt16, silent: [String]) throws {
    #expect(
      try failed(capture("keep-alive-ping", setBefore: 27, calm: port) { $0 == port }) == [])
    #expect(
      try failed(capture("keep-alive-ping", setBefore: 27, calm: port) { _ in false })
        == Set(silent))
  }

  /// Two clients are not silent by chance for the same hour, in which nothing else was captured either.
  @Test func takesNoPauseOfAllForASilence() throws {
    #expect(try failed(capture("keep-alive-ping", setBefore: 27) { _ in false }) == [])
  }
}
