import Glibc
import TestSupport
import Testing

/// That the tests' own waiting sees what happens, and gives up with a reason.
@Suite struct WaitingTests {
  @Test func aProgramThatEndsBeforeSaysHow() async throws {
    let child = try Child(["sh", "-c", "echo said; echo wrong >&2; exit 3"], errorsApart: true)
    let error = await #expect(throws: Child.Failure.self) {
      try await child.wait(for: "an answer") { $0.text.contains("answer") }
    }
    let text = error?.description ?? ""
    for part in ["waited for an answer", "it ended with 3", "said\n", "wrong\n"] {
      #expect(text.contains(part), "\(text)")
    }
    #expect(child.text == "said\n" && child.errors == "wrong\n" && child.hasEnded)
  }

  @Test(arguments: [(SIGTERM, 143), (SIGKILL, 137)] as [(Int32, Int32)])
  func aSignalIsAStatus(signal: Int32, status: Int32) async throws {
    let child = try Child(["sh", "-c", "echo here; kill -STOP $$"])
    try await child.wait(for: "its word") { $0.text == "here\n" }
    child.send(signal)
    child.pause(false)
    #expect(await child.wait() == status)
  }

  @Test func whatWasWrittenIsThereAtTheEnd() async throws {
    let child = try Child(["sh", "-c", "head -c 1000000 /dev/zero"])
    #expect(await child.wait() == 0)
    #expect(child.output.count == 1_000_000)
  }

  @Test func aFileThatGrowsIsNews() async throws {
    let folder = Scratch()
    let file = folder.file("growing")
    let child = try Child(
      ["sh", "-c", "for i in 1 2 3; do echo $i >>\"$0\"; done; kill -STOP $$", file],
      folder: folder)
    try await child.wait(for: "three lines") { _ in Child.text(of: file) == "1\n2\n3\n" }
    #expect(!child.hasEnded)
  }

  @Test func theLimitAndTheEndOfTheTaskEndTheWaiting() async throws {
    let number = Observed(1)
    #expect(await number.first(within: 0) { $0 == 2 ? true : nil } == nil)
    let waiting = Task { await number.first { $0 == 2 ? true : nil } }
    waiting.cancel()
    #expect(await waiting.value == nil)
    let asked = Counter()
    async let later = number.first { value in
      asked.add()
      return value == 2 ? "two" : nil
    }
    try await asked.reaches(1)
    number.change { $0 = 2 }
    #expect(await later == "two")
  }
}
