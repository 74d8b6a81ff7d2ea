import RepriseCore

/// The clients of one test, by the names of their recordings.
struct TestWorld: Sendable {
  @TaskLocal static var current: TestWorld?

  /// The time that the recordings share; nil where there is one.
  let time: SharedTime?
  private(set) var clients: [String: TestClient] = [:]

  /// Creates the world of a test.
  /// - Parameter isShared: Whether it has several recordings.
  init(isShared: Bool) { time = isShared ? SharedTime() : nil }

  /// Returns the world with one client more.
  func adding(_ client: TestClient, named name: String) -> TestWorld {
    var world = self
    world.clients[name] = client
    return world
  }
}
