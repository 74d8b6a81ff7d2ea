import Capture
import Foundation
import TestSupport
import Testing

/// Record headers of 24 bytes under the standard magic number, and files that only look like it.
@Suite struct RecordHeaderTests {
  /// An ordinary little-endian pcap, record by record.
  private struct Ordinary {
    let header: [UInt8]
    let records: [(header: [UInt8], frame: [UInt8])]

    init?(_ file: [UInt8]) {
      guard file.count >= 24, Array(file.prefix(4)) == [0xd4, 0xc3, 0xb2, 0xa1] else { return nil }
      header = Array(file.prefix(24))
      var records: [(header: [UInt8], frame: [UInt8])] = []
      var rest = file.dropFirst(24)
      while rest.count >= 16 {
        let head = Array(rest.prefix(16))
        let length = head[8..<12].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard rest.count >= 16 + length else { break }
        records.append((head, Array(rest.dropFirst(16).prefix(length))))
        rest = rest.dropFirst(16 + length)
      }
      self.records = records
    }

    /// The same with eight bytes of zero behind each header, as Red Hat 6.1 may write it.
    func blank(_ count: Int) -> [UInt8] {
      records.prefix(count).reduce(header) {
        $0 + $1.header + [UInt8](repeating: 0, count: 8) + $1.frame
      }
    }

    func plain(_ count: Int) -> [UInt8] {
      records.prefix(count).reduce(header) { $0 + $1.header + $1.frame }
    }
  }

  private static let names = PackageFolder.captured.map { PackageFolder.capture($0) }

  private static func recorded(_ path: String) throws -> Ordinary {
    try #require(Ordinary(Array(try Data(contentsOf: URL(filePath: path)))))
  }

  /// Whether a file that was cut gives the frames of another one that it holds whole, and nothing else.
  private static func isPrefix(
    _ file: [UInt8], of whole: [SeenFrame], recordHeader: Int = 16
  ) -> Bool {
    var count = 0
    var end = 24
    while count < whole.count, end + recordHeader + whole[count].bytes.count <= file.count {
      end += recordHeader + whole[count].bytes.count
      count += 1
    }
    do {
      return try Reading(file).frames == Array(whole.prefix(count))
    } catch { return file.count < 24 }
  }

  @Test(arguments: names) func readsBlankHeadersOfRealFrames(_ path: String) throws {
    let file = try Self.recorded(path)
    let count = min(file.records.count, 300)
    for length in [1, 2, 3, count] {
      let expected = try Reading(file.plain(length)).frames
      let seen = try Reading(file.blank(length))
      #expect(seen.frames == expected && seen.error == nil, "\(length) records")
      #expect(expected.count == length)
    }
  }

  @Test(.capturesOfOthers) func readsBlankHeadersOfOthers() throws {
    var read = 0
    var strange: [String] = []
    for name in SharedCaptures.names {
      guard let file = Ordinary(try SharedCaptures.bytes(name)), !file.records.isEmpty else {
        continue
      }
      let count = min(file.records.count, 50)
      let expected = try Reading(file.plain(count)).frames
      if try Reading(file.blank(count)).frames == expected {
        read += 1
      } else {
        strange.append(name)
      }
    }
    #expect(read > 60)
    // No packet of this one is whole, so that nothing tells where its frames begin.
    #expect(strange == ["suricata-verify/ipv4-truncated.pcap"])
  }

  @Test func readsWhatEditcapWrites() throws {
    let path = PackageFolder.capture("qos-levels-v311")
    let scratch = Scratch()
    let run = try ProgramRun(["editcap", "-F", "rh6_1pcap", path, scratch.file("a")])
    try #require(run.status == 0, "editcap is needed: make setup installs it")
    let expected = try Reading(path: path)
    let seen = try Reading(path: scratch.file("a"))
    #expect(seen.frames == expected.frames && seen.error == nil)
    #expect(seen.frames.count > 10)
  }

  // MARK: Near misses

  /// Where an ordinary file is cut must not turn its bytes into other headers: on the loopback
  /// interface each frame begins with the zeros that the blank headers end with.
  @Test(arguments: names) func readsCutFilesToTheCut(_ path: String) throws {
    let file = try Self.recorded(path)
    let whole = try Reading(file.plain(3)).frames
    try #require(whole.count == 3 && whole[0].bytes.starts(with: [UInt8](repeating: 0, count: 8)))
    for (bytes, header) in [(file.plain(3), 16), (file.blank(3), 24)] {
      let wrong = (0...bytes.count).filter {
        !Self.isPrefix(Array(bytes.prefix($0)), of: whole, recordHeader: header)
      }
      #expect(wrong == [])
    }
  }

  @Test(.capturesOfOthers) func readsCutFilesOfOthersToTheCut() throws {
    var wrong: [String] = []
    for name in SharedCaptures.names {
      guard let file = Ordinary(try SharedCaptures.bytes(name)), !file.records.isEmpty else {
        continue
      }
      let bytes = file.plain(2)
      let whole = try Reading(bytes).frames
      for count in stride(from: 0, through: min(bytes.count, 400), by: 1)
      where !Self.isPrefix(Array(bytes.prefix(count)), of: whole) {
        wrong.append("\(name) cut at \(count)")
      }
    }
    #expect(wrong == [])
  }

  /// A damaged second header is told where it stands, whatever stands in the frame before it.
  @Test func keepsTheStandardHeaderOfADamagedFile() throws {
    let blank = [UInt8](repeating: 0, count: 12)
    for frame in [blank + [8, 0] + PacketBuilder.ipv4(), blank + blank, [1, 2, 3]] {
      var file = PcapBuilder(records: [.init(data: frame), .init(data: frame)])
      file.records[1].captured = .max
      let reading = try Reading(file.bytes)
      #expect(reading.frames.map(\.bytes) == [frame])
      #expect(reading.error?.code == .recordTooLarge)
    }
  }
}
