import Foundation
import Glibc

/// A WebSocket server of the library `websockets`, on a free port of loopback; see server.py.
final class PythonServer: Sendable {
  let port: UInt16
  private let child: Child
  private let directory: Scratch
  private let isSecure: Bool

  /// Starts a server and waits until it listens.
  init(certificate: String? = nil, key: String? = nil) throws {
    directory = try Scratch()
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let package = here.appending(path: "../../..").standardized.path
    let portFile = directory.file("port")
    let log = directory.file("server.log")
    child = try Child(
      ["\(package)/.build/venv/bin/python", here.appending(path: "server.py").path, portFile]
        + [certificate, key].compactMap(\.self), output: log)
    var attempts = 0
    while access(portFile, R_OK) != 0, !child.hasEnded, attempts < 4_000 {
      // A foreign process does not say when it listens; its file is looked for until it is there.
      usleep(5_000)
      attempts += 1
    }
    guard let port = UInt16(Child.text(of: portFile)) else {
      throw Child.Failure(
        description: "server.py does not start; 'make setup' installs what it needs: "
          + Child.text(of: log))
    }
    self.port = port
    isSecure = certificate != nil
  }

  func url(_ path: String, host: String = "127.0.0.1") -> String {
    "\(isSecure ? "wss" : "ws")://\(host):\(port)\(path)"
  }

  /// Stops the server where it is, or lets it go on.
  func pause(_ isPaused: Bool) { child.pause(isPaused) }

  func stop() { child.stop(SIGKILL) }
}
