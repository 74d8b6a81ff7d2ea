/// A key log that may grow while it is read.
final class TLSKeyLogFile {
  private static let pieceSize = 1 << 16

  /// The file, as the user named it.
  let path: String
  private let file: InputFile
  private var offset = 0

  /// Opens a key log.
  /// - Throws: ``CaptureError`` if it is missing, or may not be read.
  init(_ path: String) throws(CaptureError) {
    self.path = path
    do throws(CaptureError) {
      file = try InputFile(path: path)
    } catch { throw error.inFile(path) }
  }

  /// Reads what has come since the last time; nothing if the system can't read it any more.
  func read() -> [UInt8] {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: Self.pieceSize)
    while true {
      let count = try? piece.withUnsafeMutableBytes { buffer throws(CaptureError) in
        try file.read(into: buffer, offset: offset)
      }
      guard let count, count > 0 else { return all }
      offset += count
      all += piece[..<count]
    }
  }
}
