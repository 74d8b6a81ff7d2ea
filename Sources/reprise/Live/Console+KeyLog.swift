import LiveClient

extension Console {
  /// Tells where the secrets of TLS go, or why they don't, if the user wants them logged.
  func noteKeyLog() {
    switch KeyLog.state {
    case .unwanted: return
    case .open(let path):
      note(
        path,
        "the secrets of TLS go there, as SSLKEYLOGFILE says; whoever has it can read captures")
    case .failed(let path, let reason):
      note(path, "SSLKEYLOGFILE can't be written, so no secrets of TLS are: \(reason)")
    }
  }
}
