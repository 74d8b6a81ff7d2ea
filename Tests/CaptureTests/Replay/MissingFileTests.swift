import Capture
import Foundation
import RepriseCore
import TestSupport
import Testing

/// What a program is told that names a file which is not there begins with the file.
@Suite struct MissingFileTests {
  @Test(arguments: ["nosuch.jsonl", "no/such.pcap"])
  func aReplayNamesItsFile(path: String) throws {
    let error = #expect(throws: CaptureError.self) { try ReplayClient(contentsOf: path) }
    #expect(error?.code == .notFound)
    #expect(error?.description == "\(path): no such file; check the path")
  }

  @Test func whateverReadsAFileNamesIt() throws {
    let path = "nosuch.pcap"
    let text = "nosuch.pcap: no such file; check the path"
    for open in [
      { _ = try ByteSource(path: path).offset }, { _ = try CaptureReader(path: path).framesRead },
      {
        var tap = EventList()
        _ = try SessionInput.read(path, into: &tap)
      },
    ] as [() throws -> Void] {
      let error = #expect(throws: CaptureError.self) { try open() }
      #expect(error?.description == text)
    }
  }

  /// What is wrong further on, in a capture and in a recording.
  @Test(arguments: ["damaged.pcap", "damaged.jsonl"])
  func whatIsDamagedIsNamed(name: String) throws {
    let capture: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 12)
    let record = [UInt8](repeating: 0xFF, count: 32)
    let recording = Array("{\"reprise\":1}\nnonsense\n".utf8)
    let folder = Scratch()
    let path = folder.file(name)
    let bytes = name.hasSuffix("pcap") ? capture + record : recording
    try Data(bytes).write(to: URL(filePath: path))
    var events = EventList()
    do {
      _ = try SessionInput.read(path, into: &events)
      Issue.record("it was read")
    } catch { #expect("\(error)".hasPrefix("\(path): "), "\(error)") }
    do {
      _ = try ReplayClient(contentsOf: path)
      Issue.record("it is replayed")
    } catch { #expect("\(error)".components(separatedBy: path).count == 2, "\(error)") }
    let reading = try #require(SessionFile(path)).open { _ in }
    do {
      while try reading.advance() {}
      Issue.record("it was opened")
    } catch { #expect("\(error)".hasPrefix("\(path): "), "\(error)") }
  }

  @Test func aFolderOfAnswersIsNamed() throws {
    let error = #expect(throws: DataClientError.self) { try LocalFileClient(folder: "no/answers") }
    #expect(error?.message.hasPrefix("no/answers: no such folder") == true)
  }
}
