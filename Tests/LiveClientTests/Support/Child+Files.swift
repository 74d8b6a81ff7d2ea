import Glibc

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
