import Glibc
import RepriseCore

/// Files that are read as a whole: passwords, scripts.
enum SmallFile {
  /// The largest file that is read.
  private static let limit = 16 << 20

  /// What a file in PEM holds (RFC 7468).
  enum PEM: String {
    case certificate = "a certificate"
    case key = "a private key"

    /// What the lines of its kind have in them.
    fileprivate var label: String { self == .certificate ? "CERTIFICATE-----" : "PRIVATE KEY-----" }
  }

  /// Checks that a file can be read, and is what it should be.
  /// - Parameters:
  ///   - path: The file.
  ///   - option: The option that names it.
  ///   - kind: What it should hold; it may hold the other as well.
  /// - Throws: ``UsageError``.
  static func check(_ path: String, _ option: String, is kind: PEM) throws(UsageError) {
    let text = String(decoding: try bytes(path, option), as: UTF8.self)
    guard !text.contains("-----BEGIN ") || !text.contains(kind.label) else { return }
    let other: PEM = kind == .certificate ? .key : .certificate
    let content = text.contains(other.label) ? other.rawValue : "no PEM"
    throw UsageError(
      "\(option) \(path): this is \(content), and should be \(kind.rawValue)",
      "name a file with -----BEGIN \(kind.label)")
  }

  /// The first line of a file, without its end.
  /// - Parameters:
  ///   - path: The file.
  ///   - option: The option that names it.
  /// - Returns: The line's bytes.
  /// - Throws: ``UsageError`` when it can't be read, or is empty.
  static func firstLine(_ path: String, _ option: String) throws(UsageError) -> [UInt8] {
    var line = Array(try bytes(path, option).prefix { $0 != UInt8(ascii: "\n") })
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard !line.isEmpty else {
      throw UsageError("\(option) \(path): its first line is empty", "write it there")
    }
    return line
  }

  /// What a file holds.
  /// - Parameters:
  ///   - path: The file.
  ///   - option: The option that names it; nil for an operand.
  /// - Returns: The bytes.
  /// - Throws: ``UsageError`` when it can't be read, or is far too large.
  static func bytes(_ path: String, _ option: String? = nil) throws(UsageError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw error(path, option, errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw error(path, option, errno) }
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= limit else {
        throw UsageError(
          "\(named(path, option)): it is larger than 16 MiB", "name another file")
      }
    }
  }

  private static func error(_ path: String, _ option: String?, _ code: Int32) -> UsageError {
    // Of an operand as other commands say it.
    let what = option == nil && code == ENOENT ? "no such file" : systemText(code).lowercased()
    return UsageError("\(named(path, option)): \(what)", "check the path")
  }

  private static func named(_ path: String, _ option: String?) -> String {
    (option.map { "\($0) " } ?? "") + path
  }
}
