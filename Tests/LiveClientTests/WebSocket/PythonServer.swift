import Foundation
import Glibc

/// A WebSocket server of the library `websockets`, on a free port of loopback; see server.py.
final class PythonServer: Sendable {
  let port: UInt16
  private let child: Child
  private let isSecure: Bool

  /// Starts a server and waits until it listens.
  init(certificate: String? = nil, key: String? = nil) async throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let package = here.appending(path: "../../..").standardized.path
    child = try Child(
      ["\(package)/.build/venv/bin/python", here.appending(path: "server.py").path]
        + [certificate, key].compactMap(\.self))
    try await child.wait(for: "server.py's port; 'make setup' installs what it needs") {
      $0.output.contains(0x0A)
    }
    guard let port = UInt16(child.text.prefix { $0 != "\n" }) else {
      throw Child.Failure(description: "this is no port: \(child.text)")
    }
    self.port = port
    isSecure = certificate != nil
  }

  func url(_ path: String, host: String = "127.0.0.1") -> String {
    "\(isSecure ? "wss" : "ws")://\(host):\(port)\(path)"
  }

  /// Stops the server where it is, or lets it go on.
  func pause(_ isPaused: Bool) { child.pause(isPaused) }

  func stop() async { await child.stop(SIGKILL) }
}
