import Capture
import RepriseCore
import Testing

@Suite struct PcapReaderTests {
  private static let records: [PcapBuilder.Record] = [
    .init(seconds: 1, fraction: 2, data: [1, 2, 3]),
    .init(seconds: 1_600_000_000, fraction: 999_999, wire: 1_000, data: [4]),
    .init(seconds: 5, fraction: 0, data: [UInt8](repeating: 9, count: 300)),
  ]

  /// The standard, nanoseconds, the patched format, and that of Red Hat 6.1.
  private static let variants: [(UInt32, Int, Int64)] = [
    (0xa1b2_c3d4, 16, 1_000), (0xa1b2_3c4d, 16, 1), (0xa1b2_cd34, 24, 1_000),
    (0xa1b2_c3d4, 24, 1_000),
  ]

  @Test(arguments: variants, [false, true])
  func readsEveryVariant(
    variant: (magic: UInt32, recordHeader: Int, unit: Int64), isBigEndian: Bool
  ) throws {
    for count in 0...3 {
      let reading = try Reading(
        PcapBuilder(
          magic: variant.magic, isBigEndian: isBigEndian,
          recordHeaderLength: variant.recordHeader, records: Array(Self.records[..<count])
        ).bytes)
      #expect(reading.error == nil)
      #expect(reading.frames.map(\.bytes) == Self.records[..<count].map(\.data))
      #expect(reading.frames.map(\.wireLength) == Array([3, 1_000, 300][..<count]))
      let times: [Int64] = [
        1_000_000_000 + 2 * variant.unit, 1_600_000_000_000_000_000 + 999_999 * variant.unit,
        5_000_000_000,
      ]
      #expect(reading.frames.compactMap { $0.time?.nanoseconds } == Array(times[..<count]))
    }
  }

  @Test func ignoresWhatDoesNotMatter() throws {
    var file = PcapBuilder(records: Self.records)
    file.linkType = 0xf000_0001
    file.snapshotLength = 0
    file.records[0].seconds = .max
    file.records[0].fraction = .max
    let reading = try Reading(file.bytes)
    #expect(reading.frames.count == 3)
    #expect(reading.frames[0].linkType == .ethernet)
    #expect(reading.frames[0].time?.nanoseconds == 4_294_971_589_967_295_000)
  }

  private static let unknownVersions: [(UInt16, UInt16)] = [
    (2, 5), (3, 0), (1, 0), (0, 0), (543, 1),
  ]

  @Test(arguments: unknownVersions)
  func refusesUnknownVersions(major: UInt16, minor: UInt16) {
    let error = #expect(throws: CaptureError.self) {
      try Reading(PcapBuilder(major: major, minor: minor).bytes)
    }
    #expect(error?.code == .unsupportedVersion)
    #expect(error?.description.contains("\(major).\(minor)") == true)
  }

  private static let oldVersions: [(UInt16, UInt16)] = [(2, 0), (2, 3), (543, 0)]

  @Test(arguments: oldVersions)
  func readsOldVersionsWithEitherOrderOfLengths(major: UInt16, minor: UInt16) throws {
    var file = PcapBuilder(major: major, minor: minor)
    file.records = [.init(captured: 2, wire: 9, data: [1, 2])]
    #expect(try Reading(file.bytes).frames.first?.bytes == [1, 2])
    guard major == 2 else { return }
    file.records = [.init(captured: 9, wire: 2, data: [1, 2])]
    #expect(try Reading(file.bytes).frames.first?.bytes == [1, 2])
    #expect(try Reading(file.bytes).frames.first?.wireLength == 9)
  }

  @Test(arguments: [UInt32.max, 0x8000_0000, 0x0100_0001])
  func stopsAtImpossibleLengths(length: UInt32) throws {
    var file = PcapBuilder(records: Self.records)
    file.records[1].captured = length
    let reading = try Reading(file.bytes)
    #expect(reading.frames.map(\.bytes) == [[1, 2, 3]])
    #expect(reading.error?.code == .recordTooLarge)
    #expect(reading.error?.offset == 24 + 19 + 8)
    #expect(reading.error?.frame == 2)
    #expect(reading.error?.isCut == false)
  }

  @Test func readsToTheCut() throws {
    let whole = PcapBuilder(records: Self.records).bytes
    let cut = try Reading(Array(whole.dropLast(100)))
    #expect(cut.frames.count == 2)
    #expect(cut.error?.isCut == true)
    #expect(
      cut.error?.description
        == "the file ends inside a record: 100 of its 316 bytes are missing, "
        + "at byte offset \(whole.count - 100) (frame 3); "
        + "what came before was read; copy or capture it again")
    let error = #expect(throws: CaptureError.self) { try Reading(Array(whole.prefix(10))) }
    #expect(error?.code == .truncated)
  }

  @Test func readsToTheCutOfTheCompressedFile() throws {
    let file = GzipBuilder.member(PcapBuilder(records: Self.records).bytes)
    let cut = try Reading(Array(file.dropLast(20)))
    #expect(cut.frames.count == 2)
    #expect(cut.error?.isCut == true)
    #expect(cut.error?.message == "the gzip data is cut short")
    #expect(cut.error?.frame == 3)
  }
}
