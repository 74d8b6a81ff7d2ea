import Capture
import DataClient
import Testing

/// What a program is told that names a file which is not there begins with the file.
@Suite struct MissingFileTests {
  @Test(arguments: ["nosuch.jsonl", "no/such.pcap"])
  func aReplayNamesItsFile(path: String) throws {
    let error = #expect(throws: CaptureError.self) { try ReplayClient(contentsOf: path) }
    #expect(error?.code == .notFound)
    #expect(error?.message == "\(path): no such file")
  }

  @Test func aFolderOfAnswersIsNamed() throws {
    let error = #expect(throws: DataClientError.self) { try LocalFileClient(folder: "no/answers") }
    #expect(error?.message.hasPrefix("no/answers: no such folder") == true)
  }
}
