import Foundation

/// A capture in a file that goes with it.
final class TemporaryCapture {
  let path: String

  init(_ bytes: [UInt8]) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pcap")
    try Data(bytes).write(to: file)
    path = file.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
