/// Asks again and again, 5 ms apart, for what nobody announces: the kernel's table of sockets.
///
/// The limit only keeps a broken test from hanging. Whatever has an event is waited for by `Observed`,
/// `Child.wait(for:until:)` or `Socket.read(until:)`.
func eventually(_ isSo: () -> Bool) async throws -> Bool {
  for _ in 0..<(waitingLimit * 200) {
    if isSo() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return isSo()
}
