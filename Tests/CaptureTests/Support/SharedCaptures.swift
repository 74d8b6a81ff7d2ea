import Capture
import Foundation
import Testing

/// The captures of others, which lie beside the checkout and never in it.
enum SharedCaptures {
  /// `shared/captures` beside the package, found from where this file was compiled.
  private static let folder: URL = {
    var package = URL(filePath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    return package.deletingLastPathComponent().appending(path: "shared/captures")
  }()

  /// The names of all captures, relative to the folder; empty if there is no folder.
  static let names: [String] = {
    let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    return (paths ?? []).filter { $0.hasSuffix(".pcap") || $0.hasSuffix(".pcapng") }.sorted()
  }()

  static func path(_ name: String) -> String { folder.appending(path: name).path }

  static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: name)))
  }

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
  // Without this, a missing folder would leave the tests over it without arguments, and green.
  @Test func areBesideTheCheckout() {
    #expect(SharedCaptures.names.count > 100)
    #expect(SharedCaptures.namesWithExpectation.count > 80)
  }
}
