import Foundation
import TestSupport
import Testing

extension SharedCaptures {
  /// What `F.streams.json` says of a capture.
  struct Expectation: Decodable {
    struct Summary: Decodable { let packets: Int }
    struct Flow: Decodable {
      let a: String
      let b: String
    }
    let capture: Summary
    let flows: [Flow]
  }

  static func expectation(_ name: String) throws -> Expectation {
    let data = try Data(contentsOf: folder.appending(path: name + ".streams.json"))
    return try JSONDecoder().decode(Expectation.self, from: data)
  }

  static let namesWithExpectation = names.filter {
    FileManager.default.fileExists(atPath: path($0) + ".streams.json")
  }

  /// The counts in a `.txt` of pcapng-test-generator, such as `EPB: 4`.
  static func blockCounts(_ name: String) throws -> [String: Int] {
    let text = try String(
      contentsOf: folder.appending(path: name + ".txt"), encoding: .utf8)
    var counts: [String: Int] = [:]
    for line in text.split(separator: "\n") where line.hasPrefix("\t") {
      let parts = line.dropFirst().split(separator: ":")
      guard parts.count == 2 else { continue }
      counts[String(parts[0])] = Int(parts[1].trimmingCharacters(in: .whitespaces))
    }
    return counts
  }
}

@Suite struct SharedCapturesTests {
  // Without this, a folder that lost its captures would leave the tests over it without arguments.
  @Test(.capturesOfOthers) func areAllThere() {
    #expect(SharedCaptures.names.count > 100)
    #expect(SharedCaptures.namesWithExpectation.count > 80)
  }
}
