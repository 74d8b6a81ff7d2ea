/// A number that threads share.
final class Counter: Sendable {
  private let state = Observed((count: 0, hasEnded: false))

  var count: Int { state.value.count }

  func add() { state.change { $0.count += 1 } }
  func end() { state.change { $0.hasEnded = true } }

  /// Waits until it has got so far; that it does not is an error.
  func reaches(_ count: Int) async throws {
    let isThere: Bool? = await state.first { $0.count >= count ? true : nil }
    guard isThere != nil else {
      throw Child.Failure(description: "waited for \(count), and there are \(self.count)")
    }
  }

  /// Waits until nobody adds to it any more; that the end does not come is an error.
  func ends() async throws {
    let hasEnded: Bool? = await state.first { $0.hasEnded ? true : nil }
    guard hasEnded != nil else {
      throw Child.Failure(description: "waited for the end, and there are \(count)")
    }
  }
}
