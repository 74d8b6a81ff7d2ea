import Capture
import TestSupport
import Testing

@Suite struct RealCaptureTests {
  @Test(.capturesOfOthers, arguments: SharedCaptures.namesWithExpectation)
  func findsTheFramesAndConnectionsOfOthers(name: String) throws {
    let expected = try SharedCaptures.expectation(name)
    let reading = try Reading(path: SharedCaptures.path(name))
    #expect(reading.frames.count == expected.capture.packets)
    let isCut = name.contains("truncated_mid_record")
    #expect(reading.error?.isCut == (isCut ? true : nil))
    // The expectations write IPv6 addresses without brackets.
    let seen = Set(
      reading.segments.map { segment in
        Set([segment.source, segment.destination].map { $0.filter { !"[]".contains($0) } })
      })
    #expect(seen == Set(expected.flows.map { Set([$0.a, $0.b]) }))
    #expect(reading.statistics.malformedHeaders == 0)
    #expect(reading.statistics.unsupportedFrames == 0)
  }

  private static let generated = SharedCaptures.names.filter {
    $0.hasPrefix("pcapng-test-generator") && $0.hasSuffix(".pcapng")
  }

  @Test(.capturesOfOthers, arguments: generated)
  func countsTheFramesOfGeneratedFiles(name: String) throws {
    let counts = try SharedCaptures.blockCounts(name)
    let reading = try Reading(path: SharedCaptures.path(name))
    #expect(reading.error == nil)
    #expect(reading.frames.count == counts["EPB", default: 0] + counts["SPB", default: 0])
    #expect(reading.frames.count { $0.time == nil } == counts["SPB", default: 0])
  }

  @Test(.capturesOfOthers) func readsBothByteOrdersAlike() throws {
    let little = Self.generated.filter { $0.contains("_le_") }
    #expect(little.count > 20)
    for name in little {
      let other = name.replacing("_le_", with: "_be_")
      let one = try Reading(path: SharedCaptures.path(name))
      let two = try Reading(path: SharedCaptures.path(other))
      #expect(one.frames == two.frames, "\(name)")
    }
  }

  @Test(
    .capturesOfOthers,
    arguments: [
      ("arkime/empty.pcap", 0, 0), ("arkime/ipv6-in-ipv4.pcap", 10, 0),
      ("pcapng-test-generator/empty.pcap", 0, 0),
      ("gopacket/pcapgo_tests_le_test901.pcapng", 1, 0),
    ])
  func readsOddFiles(name: String, frames: Int, segments: Int) throws {
    let reading = try Reading(path: SharedCaptures.path(name))
    #expect(reading.frames.count == frames)
    #expect(reading.segments.count == segments)
  }
}
