/// A key log that may grow while it is read.
final class TLSKeyLogFile {
  private static let pieceSize = 1 << 16

  /// The file, as the user named it.
  let path: String
  private var file: InputFile?
  /// Why it could not be opened the last time.
  private var trouble: CaptureError?
  private var offset = 0

  /// Opens a key log.
  /// - Parameters:
  ///   - path: The file.
  ///   - mayCome: Whether it may come later: programs make it with the first secret that they have.
  /// - Throws: ``CaptureError`` if it is missing, or may not be read.
  init(_ path: String, mayCome: Bool = false) throws(CaptureError) {
    self.path = path
    do throws(CaptureError) {
      file = try InputFile(path: path)
    } catch {
      guard mayCome, error.code == .notFound else { throw error.inFile(path) }
      trouble = error
    }
  }

  /// Why nothing could be read of it; nil where it could be opened.
  var obstacle: String? {
    guard file == nil, let trouble else { return nil }
    guard trouble.code != .notFound else { return "\(path) never came: check its path" }
    // A command that captures gives the rights of root up before the first frame.
    return "\(trouble.inFile(path)); a command that captures as root has no rights of root by then"
  }

  /// Reads what has come since the last time; nothing if the system can't read it any more.
  func read() -> [UInt8] {
    if file == nil {
      do throws(CaptureError) {
        file = try InputFile(path: path)
      } catch { trouble = error }
    }
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: Self.pieceSize)
    while true {
      let count = try? piece.withUnsafeMutableBytes { buffer throws(CaptureError) in
        try file?.read(into: buffer, offset: offset) ?? 0
      }
      guard let count, count > 0 else { return all }
      offset += count
      all += piece[..<count]
    }
  }
}
