/// Asks again and again, 5 ms apart, whether the kernel's table of sockets is as it should be.
///
/// Nobody announces that another thread has closed one, so it has to be asked for; the limit only keeps a broken
/// test from hanging. Whatever has an event is waited for by `Observed`, `Child.wait(for:until:)` or
/// `Socket.read(until:)`.
func eventually(_ isSo: () -> Bool) async throws -> Bool {
  for _ in 0..<(waitingLimit * 200) {
    if isSo() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return isSo()
}
