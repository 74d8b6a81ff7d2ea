import Foundation
import TestSupport
import Testing

/// Folders where files are taken.
@Suite struct SessionFolderTests {
  private let scratch = Scratch()

  init() throws {
    let capture =
      Data([0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 8))
      + Data([0xFF, 0xFF, 0, 0, 1, 0, 0, 0])
    for path in ["set/b/second", "set/a.pcap", "set/.hidden.pcap"] {
      try scratch.write([UInt8](capture), to: path)
    }
    try scratch.write(SampleRecording.text, to: "set/b/c/third.jsonl")
  }

  private func run(_ words: String...) throws -> RepriseProcess.Result {
    try RepriseProcess.run(words, directory: scratch.directory)
  }

  /// What is said of files that are left out.
  private func leftOut(_ result: RepriseProcess.Result) -> [Substring] {
    result.errors.split(separator: "\n").filter { $0.contains(" left out") }
  }

  private func inputs(_ words: String...) throws -> [String] {
    let result = try RepriseProcess.run(
      ["conform", "trace", "--format", "json"] + words, directory: scratch.directory)
    #expect(result.status == 0 && leftOut(result) == [])
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    return try #require(json?["inputs"] as? [String])
  }

  @Test func standForWhatIsInThem() throws {
    let all = ["set/a.pcap", "set/b/c/third.jsonl", "set/b/second"]
    #expect(try inputs("set") == all)
    #expect(try inputs("set/") == all)
    #expect(try inputs("set/b", "set/a.pcap") == Array(all[1...] + all[..<1]))
    let whole = try run("inspect", "set/b/c/third.jsonl", "--format", "jsonl")
    let folder = try run("inspect", "set/b/c", "--format", "jsonl")
    #expect(
      folder.status == 0 && folder.output == whole.output && folder.output.contains("CONNECT"))
    #expect(try run("stats", "set").output == run("stats", "set/a.pcap", "set/b").output)
  }

  /// A link to a folder above would have no end, and one to a file is as good as the file.
  @Test func followLinksToFilesOnly() throws {
    let folder = scratch.directory.appending(path: "set/b")
    let manager = FileManager.default
    try manager.createSymbolicLink(
      at: folder.appending(path: "up"), withDestinationURL: scratch.directory.appending(path: "set")
    )
    try manager.createSymbolicLink(
      at: folder.appending(path: "d"), withDestinationURL: folder.appending(path: "second"))
    #expect(try inputs("set/b") == ["set/b/c/third.jsonl", "set/b/d", "set/b/second"])
  }

  /// Linux takes any bytes for a name.
  @Test func sayWhatHasNoNameInUTF8() throws {
    let folder = Array(scratch.directory.appending(path: "set/b/").path.utf8)
    let names = [0xFF, 0xFE].map { last in
      (folder + [0x2F, 0x78, last, 0]).map { CChar(bitPattern: $0) }
    }
    defer { for name in names { unlink(name) } }
    let notes = [
      "set/b/x\u{FFFD} is left out: its name is no UTF-8; rename it",
      "2 files are left out, such as set/b/x\u{FFFD}, as the names are no UTF-8: rename them",
    ]
    for (name, note) in zip(names, notes) {
      let file = open(name, O_CREAT | O_WRONLY, 0o600)
      try #require(file >= 0)
      close(file)
      let result = try run("stats", "set")
      #expect(result.status == 0 && leftOut(result) == ["reprise: set: note: \(note)"])
    }
  }

  @Test func sayWhatIsLeftOut() throws {
    try scratch.write("a picture", to: "set/b/README.md")
    let one = try run("stats", "set")
    #expect(one.status == 0)
    #expect(
      leftOut(one) == [
        "reprise: set: note: set/b/README.md is left out: it is neither a capture nor a recording"
      ])
    // Any JSON may begin as a recording does.
    try scratch.write(#"{"answer":42}"#, to: "set/answer.json")
    let two = try run("stats", "set")
    #expect(
      leftOut(two) == [
        "reprise: set: note: 2 files are left out that are neither captures nor recordings, "
          + "such as set/answer.json"
      ])
    // So does what others keep in lines.
    try scratch.write("{\"level\":\"info\"}\n{\"connection\":1}\n", to: "set/app.jsonl")
    let three = try run("stats", "set")
    #expect(
      leftOut(three) == [
        "reprise: set: note: 3 files are left out that are neither captures nor recordings, "
          + "such as set/answer.json"
      ])
    let none = try run("inspect", "none")
    #expect(none.status == 2)
    try scratch.write("", to: "none/empty.txt")
    let empty = try run("inspect", "none")
    #expect(empty.status == 2 && empty.output == "")
    #expect(
      empty.errors
        == "reprise: none: no capture and no recording is in this folder; name files, or another folder\n"
    )
  }

  /// An output in a folder that is read would be read the next time, and may be one of its files now.
  @Test func keepTheirFiles() throws {
    let before = try scratch.read("set/b/c/third.jsonl")
    let result = try run("stats", "set", "-o", "set/b/c/third.jsonl")
    #expect(result.status == 2 && result.errors.contains("third.jsonl"))
    #expect(try scratch.read("set/b/c/third.jsonl") == before)
  }
}
