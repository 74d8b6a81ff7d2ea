import Capture
import Foundation
import Testing

@Suite struct ByteSourceTests {
  private static let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  /// All that can be read, in steps of a size, and why there is no more.
  private func drain(_ bytes: [UInt8], step: Int) -> (content: [UInt8], failure: CaptureError?) {
    var source = ByteSource(bytes: bytes)
    var content: [UInt8] = []
    while true {
      let part = source.peek(step).array
      guard !part.isEmpty else { return (content, source.failure) }
      content += part
      source.consume(part.count)
    }
  }

  @Test(arguments: [1_000, 4_096, 65_536, 1 << 20])
  func deliversEverythingInOrder(step: Int) {
    let (content, failure) = drain(Self.content, step: step)
    #expect(content == Self.content)
    #expect(failure == nil)
  }

  @Test(arguments: [1_000, 65_536, 1 << 20])
  func inflatesAllMembers(step: Int) {
    let half = Self.content.count / 2
    let file =
      GzipBuilder.member(Array(Self.content[..<half])) + GzipBuilder.member([])
      + GzipBuilder.member(Array(Self.content[half...])) + [0, 0, 0]
    let (content, failure) = drain(file, step: step)
    #expect(content == Self.content)
    #expect(failure == nil)
  }

  @Test func saysThatGzipIsCutAfterWhatCameBefore() {
    let file = GzipBuilder.member(Self.content)
    for length in stride(from: 2, to: file.count - 1, by: 997) {
      let (content, failure) = drain(Array(file[..<length]), step: 512)
      #expect(content == Array(Self.content.prefix(content.count)))
      #expect(failure?.code == .truncated)
      #expect(content.count > length - 700)
    }
  }

  @Test func saysThatGzipIsDamaged() {
    var file = GzipBuilder.member(Self.content)
    file[file.count - 6] ^= 1
    #expect(drain(file, step: 4_096).failure?.code == .damagedCompression)
    #expect(
      drain(GzipBuilder.member([1]) + [7, 7], step: 16).failure?.code == .damagedCompression)
  }

  @Test func peeksAtMostItsLimit() {
    var source = ByteSource(bytes: [1, 2, 3])
    #expect(source.peek(.max).byteCount == 3)
    #expect(source.peek(-1).byteCount == 0)
    source.consume(.max)
    #expect(source.offset == 3)
    source.consume(-5)
    #expect(source.offset == 3)
  }

  @Test func skipsMoreThanItHolds() {
    var source = ByteSource(bytes: GzipBuilder.member(Self.content))
    #expect(source.skip(150_000) == 150_000)
    #expect(source.peek(1).array == [Self.content[150_000]])
    #expect(source.skip(100_000) == 50_000)
    #expect(source.offset == 200_000)
  }

  @Test func readsFilesLargerThanItsBuffer() throws {
    let path = FileManager.default.temporaryDirectory.path + "/reprise-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let large = Array(repeatElement(Self.content, count: 8).joined())
    try Data(large).write(to: URL(filePath: path))
    var source = try ByteSource(path: path)
    var sum = 0
    while let byte = source.peek(1_000_000).array.last {
      sum += Int(byte)
      #expect(source.peek(1_000_000).byteCount <= 1_000_000)
      source.consume(1_000_000)
    }
    #expect(source.offset == large.count)
    #expect(sum == Int(large[999_999]) + Int(large[large.count - 1]))
  }

  @Test(arguments: [
    ("/nonexistent/file.pcap", CaptureError.Code.notFound), ("/", .isDirectory),
  ])
  func refusesWhatIsNoFile(path: String, code: CaptureError.Code) {
    #expect {
      _ = try ByteSource(path: path).offset
    } throws: {
      ($0 as? CaptureError)?.code == code
    }
  }
}
