import Foundation
import Glibc

/// A directory of a test; it goes with the last reference to it.
final class Scratch: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/reprise-live-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw Child.Failure(description: "no directory") }
    path = String(cString: made)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

  func write(_ bytes: [UInt8], to name: String) throws {
    guard let file = fopen(file(name), "w") else { throw Child.Failure(description: name) }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
      throw Child.Failure(description: "\(name) can't be written")
    }
  }
}

extension Child {
  /// What a file holds; nothing if there is none.
  static func text(of path: String) -> String {
    String(decoding: bytes(of: path), as: UTF8.self)
  }

  /// What a file holds; nothing if there is none.
  static func bytes(of path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer[..<count]
    }
    return bytes
  }
}
