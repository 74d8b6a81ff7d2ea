import Foundation
import TestSupport
import Testing

/// Several files at a time.
@Suite struct JobsTests {
  private static let recordings = PackageFolder.path("Recordings")

  private let scratch = Scratch()

  private func judge(_ words: [String], jobs: Int) throws -> RepriseProcess.Result {
    try RepriseProcess.run(
      ["conform", "trace", "--jobs", "\(jobs)"] + words, directory: scratch.directory)
  }

  private func expectSame(_ words: [String], status: Int32, jobs: [Int] = [2, 64]) throws {
    let one = try judge(words, jobs: 1)
    #expect(one.status == status)
    for jobs in jobs {
      let several = try judge(words, jobs: jobs)
      #expect(several.status == one.status)
      #expect(several.output == one.output)
      #expect(several.errors == one.errors)
    }
  }

  /// More files than a piece of work has, with notes, and some that can't be read among them.
  @Test(arguments: ["json", "text"]) func changeNothing(format: String) throws {
    for index in 0..<70 {
      try scratch.write(SampleRecording.long(index), to: "many/\(index).jsonl")
      if index % 30 == 7 { try scratch.write("{", to: "many/\(index)-cut.jsonl") }
      if index % 30 == 9 { try scratch.write("", to: "many/\(index)-empty.jsonl") }
    }
    let words = ["many", Self.recordings, "--format", format]
    try expectSame(words, status: 2)
    let errors = try judge(words, jobs: 2).errors.split(separator: "\n")
    let unread = errors.filter { $0.contains("-empty.jsonl: ") }
    #expect(unread.count == 3 && errors.count > 5)
    #expect(unread == unread.sorted())
  }

  @Test func changeNothingOfABaseline() throws {
    for (index, topic) in ["a/#", "b/+", "a/#", "c/#"].enumerated() {
      let bad = SampleRecording.line(
        #""type":"PUBLISH","qos":0,"topic":"\#(topic)","payload":{"utf8":""}"#, second: index)
      // Each is a piece by itself.
      let text = SampleRecording.long(5_500) + (bad + "\n")
      try scratch.write(text, to: "\(index).jsonl")
    }
    let files = (0..<4).map { "\($0).jsonl" }
    #expect(try judge(["0.jsonl", "1.jsonl", "--write-baseline", "b.json"], jobs: 2).status == 0)
    try expectSame(files + ["--baseline", "b.json"], status: 1)
    let output = try judge(files + ["--baseline", "b.json"], jobs: 3).output
    #expect(output.contains("c/#"))
  }

  /// Files with holes that call themselves as large as any number can tell.
  @Test func takeWhateverAFileSaysOfItsSize() throws {
    try scratch.write(SampleRecording.text, to: "small.jsonl")
    // The temporary folder of the system takes no file of this size.
    let folder = try #require(
      mkdtemp(strdup("/dev/shm/reprise-XXXXXX")).map { String(cString: $0) })
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var words = ["small.jsonl"]
    for name in ["a.pcap", "b.pcap"] {
      let path = "\(folder)/\(name)"
      let file = open(path, O_CREAT | O_WRONLY, 0o600)
      try #require(file >= 0 && write(file, "no capture", 10) == 10)
      try #require(ftruncate(file, off_t.max) == 0)
      close(file)
      words.append(path)
    }
    try expectSame(words, status: 2, jobs: [2])
    let result = try judge(words, jobs: 2)
    let strange = result.errors.split(separator: "\n").filter { $0.contains("neither a capture") }
    #expect(strange.count == 2)
    #expect(result.output.contains("clauses had anything to judge"))
    // On a terminal the line of progress adds them up.
    let shown = try RepriseProcess.shell(
      "script -qec \"$reprise stats \(words.dropFirst().joined(separator: " "))\" /dev/null < /dev/null"
    )
    #expect(shown.status == 2 && shown.output.contains("neither a capture"))
  }

  /// What a thread's part of the memory is too small for is judged again with all of it.
  @Test func changeNothingWhereMemoryIsShort() throws {
    let capture = [UInt8](
      try Data(contentsOf: URL(fileURLWithPath: Self.recordings + "/large-payload/capture.pcap")))
    for index in 0..<8 { try scratch.write(capture, to: "large/\(index).pcap") }
    let words = ["large", "--memory", "4M", "--format", "json"]
    try expectSame(words, status: 0, jobs: [8])
    #expect(try judge(words, jobs: 8).errors == "")
    // An eighth of it alone would not do.
    let small = try judge(["large", "--memory", "512K", "--format", "json"], jobs: 1)
    #expect(small.errors.components(separatedBy: " gave up ").count == 9)
    #expect(try small.output != judge(words, jobs: 8).output)
  }
}
