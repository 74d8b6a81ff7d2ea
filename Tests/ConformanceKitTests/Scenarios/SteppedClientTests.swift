import RepriseCore
import TestSupport
import Testing

@testable import ConformanceKit

/// When a step is over whose world broke.
@Suite struct SteppedClientTests {
  /// What happens when a subject's action fails, and others are still to come before its loop ends.
  private func log(_ code: DataClientError.Code) async throws -> [String] {
    let pen = ScenarioPen()
    // A world in which every action fails.
    let world = ScriptedClient { _, _ in throw DataClientError(code, "left") }
    let client = SteppedClient(world, patience: nil, pen: pen) { _ in pen.write("action") }
    func perform(_ id: UInt32) async {
      let action = ClientAction(ClientAction.ID(rawValue: id), .disconnect)
      let error = await #expect(throws: DataClientError.self) { try await client.perform(action) }
      #expect(error?.code == code)
    }
    await perform(1)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await client.settle()
        pen.write("over")
      }
      // What settles at once has every chance to.
      for _ in 0..<10_000 { await Task.yield() }
      await perform(2)
      client.finish()
    }
    return pen.take()
  }

  @Test("Where the subject left its session, all that it was about to do belongs to the step")
  func left() async throws {
    #expect(try await log(.diverged) == ["action", "action", "over"])
  }

  @Test("A world that can't be read on, which accuses nobody, is waited for by nobody")
  func broken() async throws {
    let log = try await log(.unreadable)
    #expect(log.sorted() == ["action", "action", "over"])
  }
}
